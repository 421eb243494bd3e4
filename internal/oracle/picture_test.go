package oracle_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"reflect"
	"slices"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/files"
	"sibyl/internal/media/document"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/oracle"
	"sibyl/internal/redact"
	"sibyl/internal/run"
	"sibyl/internal/service/assistant"
)

// picture is a file of one colour.
func picture(t *testing.T, shade uint8) []byte {
	t.Helper()
	drawn, file := image.NewGray(image.Rect(0, 0, 4, 4)), &bytes.Buffer{}
	drawn.SetGray(1, 1, color.Gray{Y: shade})
	assert.NoError(t, png.Encode(file, drawn))
	return file.Bytes()
}

// parts reads files as they are handed over, by name and content in turn.
func parts(t *testing.T, named ...string) (all []document.Part) {
	t.Helper()
	for i := 0; i < len(named); i += 2 {
		read := assert.Must(oracle.ReadParts(t.Context(), nil, named[i], []byte(named[i+1])))(t)
		all = append(all, read...)
	}
	return all
}

// shown are the pictures of all user messages that the model was sent with a request.
func shown(req model.Request) (all []model.Picture) {
	for _, m := range req.Messages {
		all = append(all, m.Pictures...)
	}
	return all
}

func TestPicturesGoToTheModelAsTheyAreBesideTheTextThatIsHandedOver(t *testing.T) {
	car, wall := picture(t, 10), picture(t, 200)
	h := setUp(t, modeltest.Say("The car of shots/car 1.png is gray, as notes.txt:1 says. "+enough()))
	q := h.question("What is in the picture?")
	q.Material = document.JoinParts(parts(t, "shots/car 1.png", string(car), "notes.txt", "the car is gray",
		"wall.png", string(wall)))
	a := h.finish(h.startQuestion(q))
	want := []model.Picture{{Type: "image/png", Data: car}, {Type: "image/png", Data: wall}}
	if got := shown(h.request(1)); !reflect.DeepEqual(got, want) {
		t.Errorf("the model was shown %d pictures, other than %d that were attached", len(got), len(want))
	}
	wantParts(t, "what the model is told", whole(h.request(1)),
		"shots/car 1.png, cited as shots/car 1.png: picture 1 above", "wall.png, cited as wall.png: picture 2 above",
		"1| the car is gray")
	if told := whole(h.request(1)); strings.Contains(told, base64.StdEncoding.EncodeToString(car)) {
		t.Error("the content of a picture stands in the text")
	}
	var cites []string
	for _, s := range a.Sources {
		cites = append(cites, fmt.Sprintf("%s %v", s.Cite, s.Cited))
	}
	same(t, "sources", strings.Join(cites, "; "), "shots/car 1.png true; notes.txt:1 true; wall.png false")
	same(t, "files", strings.Join(a.Files, "; "), "shots/car 1.png; notes.txt; wall.png")
	same(t, "unsupported", len(a.Unsupported), 0)
}

// The bytes look like a secret, which redaction would take out of a text.
func TestPictureIsKeptUntouchedAndSentAgainAfterACrash(t *testing.T) {
	file := append(picture(t, 10), []byte("\npassword=9fK2mQx7Zt4LpW8v\n")...)
	assert.Require(t, !bytes.Equal(redact.New().Bytes(file), file), "nothing in the picture looks like a secret")
	for at := range 4 {
		h := setUp(t, modeltest.Turn{Chunks: []string{"It is gray. " + enough()}},
			modeltest.Turn{Chunks: []string{"It is gray. " + enough()}})
		h.redact = redact.New().Bytes
		q := h.question("What colour is it?")
		q.Material = document.JoinParts(parts(t, "car.png", string(file)))
		a := h.survive(func(*run.Engine) *run.Live { return h.startQuestion(q) }, mortal(h.store, at, at%2 == 0))
		same(t, "answer", a.Answer, "It is gray.")
		for i, req := range h.script.Requests() {
			got := shown(req)
			assert.That(t, len(got) == 1 && bytes.Equal(got[0].Data, file),
				"death at append %d: request %d has %d pictures, not the one that was attached", at, i+1, len(got))
		}
	}
}

func TestEarlierPicturesOfASessionAreShownAgainTheLatestFirstAndNoMoreThanFit(t *testing.T) {
	h := setUp(t, modeltest.Say("Gray. "+enough()), modeltest.Say("Both gray. "+enough()),
		modeltest.Say("Still gray. "+enough()), modeltest.Say("All gray. "+enough()),
		modeltest.Say("No number on it. "+enough()))
	car, wall := picture(t, 10), picture(t, 200)
	first := h.question("What colour is it?")
	first.Material = document.JoinParts(parts(t, "car.png", string(car), "notes.txt", "a note"))
	h.finish(h.startQuestion(first))
	second := h.question("And the wall?")
	second.Material = document.JoinParts(parts(t, "wall.png", string(wall)))
	h.finish(h.startQuestion(second))
	a := h.finish(h.start("Is the car darker than the wall?"))
	same(t, "stop", a.StopReason, oracle.StopSatisfied)
	same(t, "attached to the third question", len(a.Files), 0)
	asked := h.request(3).Messages
	same(t, "messages", len(asked), 5)
	for n, want := range map[int][]byte{0: car, 2: wall} {
		got := asked[n].Pictures
		assert.That(t, len(got) == 1 && bytes.Equal(got[0].Data, want), "message %d has %d pictures, or another", n, len(got))
	}
	wantParts(t, "the first question", asked[0].Text, "car.png, cited as car.png: picture 1 above", "a note")
	same(t, "pictures of the third question", len(asked[4].Pictures), 0)

	fourth := h.question("And these?")
	fourth.Material = document.JoinParts(parts(t, slices.Repeat([]string{"x.png", string(picture(t, 1))}, 3)...))
	h.finish(h.startQuestion(fourth))
	asked = h.request(4).Messages
	same(t, "pictures beside three others", []int{len(asked[0].Pictures), len(asked[2].Pictures),
		len(asked[6].Pictures)}, []int{0, 1, 3})

	a = h.finish(h.start("Which licence plates appear?"))
	same(t, "a question that shares no word with those before", []any{a.TopicShift, a.StopReason},
		[]any{true, oracle.StopSatisfied})
	asked = h.request(5).Messages
	same(t, "pictures of the last exchange alone", []int{len(asked), len(asked[0].Pictures)}, []int{3, 3})
}

func TestEarlierPictureIsLeftOutForAModelThatTakesNoneAndAPictureKeepsFallbacksThatDo(t *testing.T) {
	h := setUp(t, modeltest.Say("Gray. "+enough()))
	h.env.Fallback = []string{"house:blind", "house:seeing"}
	q := h.question("What colour is it?")
	q.Material = document.JoinParts(parts(t, "car.png", string(picture(t, 10))))
	h.finish(h.startQuestion(q))
	for _, blind := range []bool{true, false} {
		around := h.surroundings(h.store)
		around.Known = func(_ context.Context, id string) model.Info {
			return model.Info{NoPictures: blind || id == "house:blind"}
		}
		around.Describe = around.Known
		next := h.question("And its wheels?")
		spec := assert.Must(around.Begin(t.Context(), next.Request, next.Options))(t)
		kept := 0
		for _, text := range spec.Texts {
			if text.Raw {
				kept++
			}
		}
		want := map[bool]string{true: "0 pictures, [house:blind house:seeing]", false: "1 pictures, [house:seeing]"}
		same(t, "of the follow-up", fmt.Sprintf("%d pictures, %v", kept, spec.Env.(oracle.Env).Fallback), want[blind])
		if blind {
			continue
		}
		q.Session = "another"
		spec = assert.Must(around.Begin(t.Context(), q.Request, q.Options))(t)
		same(t, "of a first question with a picture", spec.Env.(oracle.Env).Fallback, []string{"house:seeing"})
	}
}

func TestPictureForAModelThatTakesNoneIsRefusedBeforeAnythingIsSent(t *testing.T) {
	h := setUp(t)
	q := h.question("What is it?")
	q.Material = document.JoinParts(parts(t, "car.png", string(picture(t, 10)), "notes.txt", "a note"))
	for id, want := range map[string]string{
		"house:blind": "nothing was sent, as house:blind takes no pictures, and car.png " +
			"is attached: name a model that does with -m",
		model.OfflineRules: "no language model is in use, and without one nobody " +
			"can look at car.png: ‘sibyl init’ sets one up",
	} {
		around := h.surroundings(h.store)
		around.Choose = func(context.Context, string) (string, error) { return id, nil }
		around.Describe = func(context.Context, string) model.Info { return model.Info{NoPictures: true} }
		_, err := around.Begin(t.Context(), q.Request, q.Options)
		refused, is := errors.AsType[*assistant.RequestError](err)
		assert.That(t, is && strings.HasPrefix(err.Error(), want) && refused.Kind == "no_pictures" &&
			strings.Contains(refused.Text, "car.png"), "%s: %v", id, err)
		q := q
		q.Material = "a text"
		_, err = around.Begin(t.Context(), q.Request, q.Options)
		assert.That(t, err == nil, "%s is not asked about a text: %v", id, err)
	}
}

func TestPicturesBeyondTheBoundsAreRefusedByName(t *testing.T) {
	most := append(picture(t, 10), make([]byte, oracle.MaxPicture)...)
	for name, c := range map[string]struct{ content, want string }{
		"huge.png": {string(most), "huge.png: it is a picture of 3.8 MB, more than the limit of 3.8 MB"},
		"a.bmp":    {"BM" + strings.Repeat("\x00", 60), "a.bmp: models take PNG, JPEG, WEBP and GIF"},
		"phone.jpg": {"\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic",
			"phone.jpg: models take PNG, JPEG, WEBP and GIF"},
	} {
		_, err := oracle.ReadParts(t.Context(), nil, name, []byte(c.content))
		assert.That(t, err != nil && strings.HasPrefix(err.Error(), c.want), "%s: %v", name, err)
	}
	for name, head := range map[string]string{"a.gif": "GIF89a", "a.webp": "RIFF\x00\x00\x00\x00WEBPVP8 ",
		"a.jpg": "\xff\xd8\xff\xe0"} {
		read, err := oracle.ReadParts(t.Context(), nil, name, []byte(head))
		assert.That(t, err == nil && read[0].Type != "", "%s: %+v, %v", name, read, err)
	}
	h := setUp(t)
	five := parts(t, slices.Repeat([]string{"car.png", string(picture(t, 10))}, 5)...)
	for want, material := range map[string]string{
		"there are 5 pictures, more than the limit of 4": document.JoinParts(five),
		"car.png: it is no picture in base64": document.JoinParts([]document.Part{{Name: "car.png",
			Type: "image/png", Text: "?"}}),
		"car.png: models take PNG, JPEG, WEBP and GIF, and it": document.JoinParts([]document.Part{{Name: "car.png",
			Type: "image/png", Text: "SGVsbG8="}}),
	} {
		q := h.question("What is it?")
		q.Material = material
		_, err := h.begin(t.Context(), h.store, q)
		assert.That(t, err != nil && strings.HasPrefix(err.Error(), want), "%v; want %s", err, want)
	}
}

// What a client says of a picture beside its content counts for nothing.
func TestPictureIsWhatItsContentIs(t *testing.T) {
	h := setUp(t, modeltest.Say("Gray. "+enough()))
	forged := parts(t, "car.png", string(picture(t, 10)))
	forged[0].Type, forged[0].Hash = "image/gif", files.Hash([]byte("another"))
	q := h.question("What is it?")
	q.Material = document.JoinParts(forged)
	h.finish(h.startQuestion(q))
	got := shown(h.request(1))
	assert.That(t, len(got) == 1 && got[0].Type == "image/png" && bytes.Equal(got[0].Data, picture(t, 10)),
		"the model is shown %v", got)
}

func TestSourcesTellWhatWasAttachedAndWhichOfItIsCited(t *testing.T) {
	h := setUp(t, modeltest.Say("See car.png, stdin:2-3 and my report.pdf p. 3. "+enough()))
	q := h.question("What is it?")
	q.Material = document.JoinParts(append(append(parts(t, "car.png", string(picture(t, 10)), "unused.txt", "nothing"),
		report()...), document.Part{Name: "stdin", Text: "a\nb\nc\nd"}))
	h.finish(h.startQuestion(q))
	played := assert.Must(oracle.New(oracle.Deps{}))(t)
	of := oracle.Describe(played, h.surroundings(h.store))
	row := assert.Must(h.store.Run(t.Context(), owner, h.last.ID))(t)
	v := assert.Must(played.Recorded(h.store, row, h.records()))(t)
	end := assert.Must(run.ReadEnd(t.Context(), h.store, owner, h.last.ID))(t)
	var places []string
	for _, p := range of.Places(v.Start(), end.Outcome) {
		places = append(places, fmt.Sprintf("%s %v %v", p.Cite, p.Handed, p.Cited))
	}
	same(t, "places", strings.Join(places, "\n"),
		"car.png true true\nstdin:2-3 true true\nmy report.pdf p. 3 true true\n"+
			"unused.txt:1 true false\nmy report.pdf p. 1 true false\nmy report.pdf p. 4 true false")
	read, err := of.Passages(t.Context(), v)
	for _, p := range read {
		assert.That(t, err == nil && !strings.HasPrefix(p.Cite, "car.png"), "a picture has the lines %q, %v", p.Lines, err)
	}
}
