package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"slices"
	"strings"

	"sibyl/internal/agent"
	"sibyl/internal/model"
)

// Answers in place of a model: one on this machine is wanted, or the question is to be asked again.
const (
	ofThisMachine = "local"
	again         = "\x00"
)

// localModel is a model that Ollama can load and that calls tools.
type localModel struct {
	name     string  // as Ollama knows it
	billions float64 // of parameters
}

// localModels are the models that are offered, the largest first. Their names say how many parameters they have; only
// Ollama knows their size on disk, and reports it when it begins to load them.
func localModels() []localModel {
	return []localModel{{"gpt-oss:120b", 120}, {"qwen3:30b", 30}, {"gpt-oss:20b", 20}, {"qwen3:14b", 14},
		{"qwen3:8b", 8}, {"qwen3:4b", 4},
		{"llama3.2:3b", 3}, {"qwen3:1.7b", 1.7}}
}

// contextMemory is the memory in GB for the context of 32,768 tokens that Sibyl requests, calculated for qwen3:8b:
// 36 layers with 8 heads each, of 128 numbers for the keys and 128 for the values, of 2 bytes, are 147 kB a token.
const contextMemory = 5

// memory is what a machine should have for a model, in GB (10^9 bytes): the context, and one for each billion of
// parameters. That is a rule of thumb from Ollama's README (8 for 7, 16 for 13, 32 for 33 billions), not measured.
func (m localModel) memory() float64 { return m.billions + contextMemory }

// fitting lists the models that fit into so many bytes of memory, the largest first; all for 0, which means unknown.
func fitting(memory uint64) []localModel {
	return slices.DeleteFunc(localModels(), func(m localModel) bool {
		return memory > 0 && m.memory()*1e9 > float64(memory)*1.02
	})
}

// askSource asks where to get a model, as there is none, and gives what was typed; Enter means ofThisMachine.
func (s *setup) askSource(ctx context.Context, keyless []string) (string, error) {
	fmt.Fprint(s.c.Err, "\nNo model is available. Without one, Sibyl searches and quotes your files.\n"+
		"  local   a model on this machine, with Ollama: free, and nothing leaves the machine\n")
	question := "Type local or none [local]: "
	if len(keyless) > 0 {
		fmt.Fprintf(s.c.Err, "  %s   a hosted model, with your key\n", agent.Listed(keyless, "or"))
		question = "Type local, none, or the name of a provider [local]: "
	}
	typed, err := s.ask(ctx, question)
	return cmp.Or(typed, ofThisMachine), err
}

// ollama is the index in s.served of the provider that loads models; -1: there is none.
func (s *setup) ollama() int {
	return slices.IndexFunc(s.served, func(one served) bool { return one.Pull != nil && one.Probe })
}

// isAnswering says whether the provider with an index in s.served lists its models, even if it has none.
func (s *setup) isAnswering(ctx context.Context, at int) bool {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	_, err := s.served[at].List(ctx)
	return err == nil
}

// installLine is the command that installs Ollama on an operating system.
func installLine(system string) string {
	switch system {
	case "darwin":
		return "brew install ollama && brew services start ollama"
	case "windows":
		return "winget install Ollama.Ollama"
	}
	return "curl -fsSL https://ollama.com/install.sh | sh"
}

// howToStart says how to start Ollama, or how to install it if it is not there.
func howToStart() string {
	if _, err := exec.LookPath("ollama"); err == nil {
		return "Ollama is installed, but does not answer. Start it in another terminal:\n    ollama serve"
	}
	return "Ollama does not answer. Install it in another terminal (https://ollama.com/download has other ways):\n    " +
		installLine(runtime.GOOS)
}

// askLocal asks for a model and has Ollama load it, after waiting until Ollama answers. The id is that of the model,
// ‘none’, or again if none fits or loading fails.
func (s *setup) askLocal(ctx context.Context) (id string, err error) {
	at := s.ollama()
	for !s.isAnswering(ctx, at) {
		fmt.Fprintf(s.c.Err, "\n%s\n", howToStart())
		typed, err := s.ask(ctx, "Press Enter when it runs, or type none to go without: ")
		if err != nil || typed == "none" {
			return "none", err
		}
	}
	about := map[string]string{}
	var names []string
	for _, m := range fitting(s.memory()) {
		names = append(names, m.name)
		about[m.name] = fmt.Sprintf("%3g billion parameters", m.billions)
	}
	if len(names) == 0 {
		smallest := localModels()[len(localModels())-1]
		fmt.Fprintf(s.c.Err, "· this machine has %s of memory, and %s wants about %.0f GB: a hosted model serves you "+
			"better\n", gigabytes(s.memory()), smallest.name, smallest.memory())
		return again, nil
	}
	typed, err := s.choose(ctx, choice{title: "\n" + s.tableTitle(), prompt: "Number, or any name that Ollama knows",
		offered: names, about: about,
		usual: s.suggested(), own: func(typed string) bool { return typed == "none" || strings.Contains(typed, ":") }})
	if err != nil || typed == "none" {
		return "none", err
	}
	if err := s.c.pull(ctx, s.served[at].Provider, typed); err != nil {
		if ctx.Err() != nil {
			return "", err
		}
		fmt.Fprintln(s.c.Err, "· "+printable(s.app.Redact(err.Error())))
		return again, nil
	}
	return s.adoptLoaded(ctx, at, typed), nil
}

// tableTitle is the text above the models that are offered: where they run, and how much memory one needs.
func (s *setup) tableTitle() string {
	which := "Models that fit this machine"
	if memory := s.memory(); memory > 0 {
		which += ", which has " + gigabytes(memory) + " of memory"
	}
	if at := s.ollama(); !s.served[at].Local {
		which = "Models for the machine where Ollama runs"
	}
	return fmt.Sprintf("%s. As a rule of thumb, one wants 1 GB for each billion parameters, and %d GB beside. "+
		"The larger answer better, the smaller sooner.", which, contextMemory)
}

// memory is that of this machine in bytes, if Ollama runs here; 0: unknown.
func (s *setup) memory() uint64 {
	if at := s.ollama(); at < 0 || !s.served[at].Local {
		return 0
	}
	return cmp.Or(s.c.Memory, machineMemory())
}

// usualMemory is assumed, in bytes, where the memory is unknown.
const usualMemory = 10e9

// suggested is the largest model that fits this machine; "": none does.
func (s *setup) suggested() string {
	if all := fitting(cmp.Or(s.memory(), usualMemory)); len(all) > 0 {
		return all[0].name
	}
	return ""
}

// adoptLoaded lists all providers again after a model was loaded, and gives the id of the model.
func (s *setup) adoptLoaded(ctx context.Context, at int, name string) string {
	provider := s.served[at].Name
	s.served = listProviders(ctx, s.app)
	return provider + ":" + name
}

// pullUnasked sets the model that --model names, or the largest that fits; Ollama loads it unless it has it.
func (s *setup) pullUnasked(ctx context.Context) error {
	at := s.ollama()
	provider, name := model.SplitID(s.model)
	if s.model == "" {
		provider, name = s.served[at].Name, s.suggested()
		if name == "" {
			return withCode(ExitFailed,
				errors.New("no model is known that fits this machine's memory; name one with --model"))
		}
	}
	if provider != s.served[at].Name || name == "" {
		return withCode(ExitUsage, errors.New("--pull loads models with Ollama: name one as ollama:MODEL"))
	}
	if !s.isAnswering(ctx, at) {
		return withCode(ExitFailed, errors.New(howToStart()))
	}
	if !hasModel(s.served[at].names, name) {
		if err := s.c.pull(ctx, s.served[at].Provider, name); err != nil {
			return err
		}
	}
	s.noteSetting("model", s.cfg.Model, s.adoptLoaded(ctx, at, name))
	return nil
}

// suggestPull prints how to get a local model, where nobody can be asked; nothing if none fits.
func (s *setup) suggestPull(ctx context.Context) {
	at, name := s.ollama(), s.suggested()
	if name == "" {
		return
	}
	if !s.isAnswering(ctx, at) {
		s.c.note("%s", howToStart())
	}
	s.c.note("no model is available; ‘sibyl init --yes --pull’ loads %s with Ollama", name)
}

// gigabytes formats a number of bytes in GB.
func gigabytes(bytes uint64) string { return fmt.Sprintf("%.0f GB", float64(bytes)/1e9) }
