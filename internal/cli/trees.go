package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"sibyl/internal/app"
	"sibyl/internal/bt"
	"sibyl/internal/files"
	"sibyl/internal/oracle"
	"sibyl/trees"
)

func (c *command) treeCommand() *cobra.Command {
	return group(&cobra.Command{Use: "tree", Short: "List, show and check the behaviour trees"},
		c.treeList(), c.treeShow(), c.treeCheck(), c.treeModels())
}

func (c *command) treeList() *cobra.Command {
	return &cobra.Command{Use: "list", Short: "List the trees and where each comes from", Args: cobra.NoArgs,
		RunE: c.onPrepared(func(_ context.Context, a *app.App, _ []string) error {
			all, err := a.Trees.All()
			if err != nil {
				return err
			}
			for _, t := range all {
				from := t.File
				if t.Embedded {
					from = "built in"
				}
				state := "does not load: ‘sibyl tree check’ says why"
				if loaded, err := a.LoadTree(t); err == nil {
					state = fmt.Sprintf("%d nodes", loaded.Size())
				}
				fmt.Fprintf(c.Out, "%-12s %-20s %s\n", t.Name, state, from)
			}
			return nil
		})}
}

func (c *command) treeShow() *cobra.Command {
	var asXML bool
	cmd := &cobra.Command{Use: "show [NAME]", Short: "Draw a tree (default: oracle), or print its XML",
		Args: cobra.MaximumNArgs(1),
		RunE: c.onPrepared(func(_ context.Context, a *app.App, args []string) error {
			t, err := a.Trees.Get(nameOr(args, oracle.Name))
			if err != nil {
				return withCode(ExitUsage, err)
			}
			if asXML {
				_, err := c.Out.Write(t.Text)
				return err
			}
			loaded, err := a.LoadTree(t)
			if err != nil {
				return withCode(ExitUsage, err)
			}
			_, err = fmt.Fprint(c.Out, loaded.Picture())
			return err
		})}
	cmd.Flags().BoolVar(&asXML, "xml", false, "print the file unchanged")
	return cmd
}

func nameOr(args []string, def string) string {
	if len(args) > 0 {
		return args[0]
	}
	return def
}

// mostTree limits how many bytes of a tree file are read; loading a tree has lower limits.
const mostTree = 16 << 20

func (c *command) treeCheck() *cobra.Command {
	return &cobra.Command{Use: "check [FILE...]",
		Short: "Check tree files (default: the trees in use) and show all errors",
		RunE: c.onPrepared(func(_ context.Context, a *app.App, args []string) error {
			all, err := a.Trees.All()
			if err != nil {
				return err
			}
			if len(args) > 0 {
				all = nil
				for _, name := range args {
					text, err := files.ReadNamed(name, mostTree)
					if err != nil {
						return withCode(ExitUsage, err)
					}
					all = append(all, trees.Tree{File: name, Text: text})
				}
			}
			bad := 0
			for _, t := range all {
				bad += c.check(a, t)
			}
			if bad > 0 {
				return withCode(ExitUsage, fmt.Errorf("%d errors", bad))
			}
			return nil
		})}
}

// check prints the errors of one tree, or else its warnings and size, and gives the number of errors.
func (c *command) check(a *app.App, t trees.Tree) int {
	loaded, err := a.LoadTree(t)
	var wrong *bt.LoadError
	switch {
	case errors.As(err, &wrong):
		for _, p := range wrong.Problems {
			fmt.Fprintln(c.Out, p)
		}
		return len(wrong.Problems)
	case err != nil:
		fmt.Fprintln(c.Out, err)
		return 1
	}
	for _, p := range loaded.Warnings {
		fmt.Fprintln(c.Out, p)
	}
	fmt.Fprintf(c.Out, "%s: ok, %d nodes\n", t.File, loaded.Size())
	return 0
}

func (c *command) treeModels() *cobra.Command {
	return &cobra.Command{Use: "models [ASSISTANT]", Hidden: true,
		Short: "Print the TreeNodesModel that describes our nodes to Groot2 (default: those of the oracle)",
		Args:  cobra.MaximumNArgs(1),
		RunE: c.onPrepared(func(_ context.Context, a *app.App, args []string) error {
			leaves, err := a.Leaves(nameOr(args, oracle.Name))
			if err != nil {
				return withCode(ExitUsage, err)
			}
			return leaves.Models(c.Out)
		})}
}
