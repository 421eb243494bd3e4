package cli

import (
	"context"
	"fmt"
	"sync"

	"github.com/spf13/cobra"

	"sibyl/internal/app"
	"sibyl/internal/model"
)

func (c *command) modelsCommand() *cobra.Command {
	return c.withJSON(&cobra.Command{Use: "models", Short: "List the available models and the default one",
		Args: cobra.NoArgs,
		RunE: c.onPrepared(c.listModels)}, "a JSON array")
}

// listed is one provider with its models.
type listed struct {
	Provider string   `json:"provider"`
	Local    bool     `json:"local"`
	Models   []string `json:"models"`
	Missing  string   `json:"missing,omitempty"`
	Error    string   `json:"error,omitempty"`
}

func modelsOf(ctx context.Context, p model.Provider) listed {
	l := listed{Provider: p.Name, Local: p.Local, Missing: p.Missing, Models: []string{}}
	if p.Missing != "" {
		return l
	}
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	names, err := p.List(ctx)
	if err != nil {
		l.Error = err.Error()
		return l
	}
	l.Models = append(l.Models, names...)
	return l
}

// listAll asks every provider that is set up for its models.
func listAll(ctx context.Context, a *app.App) []listed {
	all := make([]listed, len(a.Models))
	var looks sync.WaitGroup
	for i, p := range a.Models {
		looks.Go(func() { all[i] = modelsOf(ctx, p) })
	}
	looks.Wait()
	return all
}

func (c *command) listModels(ctx context.Context, a *app.App, _ []string) error {
	all := listAll(ctx, a)
	if c.asJSON {
		return c.printJSON(all)
	}
	chosen, chooseErr := a.Models.Choose(ctx, a.Config.Model)
	for _, l := range all {
		switch {
		case l.Missing != "":
			fmt.Fprintf(c.Out, "  %s: not set up; %s\n", l.Provider, l.Missing)
		case l.Error != "":
			fmt.Fprintf(c.Out, "  %s: %s\n", l.Provider, l.Error)
		}
		for _, name := range l.Models {
			mark := " "
			if l.Provider+":"+name == chosen {
				mark = "*"
			}
			fmt.Fprintf(c.Out, "%s %s:%s\n", mark, l.Provider, name)
		}
	}
	if chooseErr != nil {
		return withCode(ExitUsage, chooseErr)
	}
	return nil
}
