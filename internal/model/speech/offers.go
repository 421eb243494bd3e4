package speech

import "fmt"

// Offer is a program of this machine that transcribes.
type Offer struct {
	Program string
	Setting string // the value of transcription.command
	Note    string // what is worth knowing of it, in words
}

// String says how to use it.
func (o Offer) String() string {
	return fmt.Sprintf("%s, to be used by transcription.command: %s (%s)", o.Program, o.Setting, o.Note)
}

// Offers are the known programs that look, such as exec.LookPath, finds. None is run.
func Offers(look func(program string) (path string, err error)) (found []Offer) {
	const whole = "its first use fetches a model"
	for _, o := range []Offer{
		{"whisper-cli", `[whisper-cli, -m, MODEL, -f, "{file}", -l, "{language}", -np]`, "of whisper.cpp; MODEL is the path of a model's file"},
		{"whisper-ctranslate2", `[whisper-ctranslate2, "{file}", --model, small]`, whole},
		{"whisper", `[whisper, "{file}", --model, small]`, whole},
		{"pocketsphinx_continuous", `[pocketsphinx_continuous, -infile, "{file}", -logfn, /dev/null]`, "a draft, of English alone"},
	} {
		if _, err := look(o.Program); err == nil {
			found = append(found, o)
		}
	}
	return found
}
