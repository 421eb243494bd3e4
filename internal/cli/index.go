package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"sibyl/internal/app"
	"sibyl/internal/index"
	"sibyl/internal/tool"
)

func (c *command) indexCommand() *cobra.Command {
	return group(&cobra.Command{Use: "index", Short: "Show, build and remove the indexes that speed up searches of large folders",
		Long: "An index records which words occur in which files of a folder, and where its definitions are. It is\n" +
			"built in the background during the first questions about a large folder and updated by later ones.\n" +
			"It makes searches faster, changes no answer, and can be removed at any time. Files with secrets are\n" +
			"not indexed. The setting index.use turns it off; index.folder says where it is stored."},
		c.indexList(), c.indexBuild(), c.indexClear())
}

func (c *command) indexList() *cobra.Command {
	return c.withJSON(&cobra.Command{Use: "list", Short: "List the indexes: folder, size, and when each was last used",
		Example: "  sibyl index list", Args: cobra.NoArgs,
		RunE: c.onIndex(func(ctx context.Context, store *index.Caches, _ []string) error {
			all, err := store.List(ctx)
			if err != nil {
				return err
			}
			if len(all) == 0 {
				fmt.Fprintln(c.Err, "· nothing is indexed; indexes would be stored in "+store.Folder())
			}
			return printList(c, all, indexLine)
		})}, "a JSON array")
}

func indexLine(k index.Kept) string {
	root := k.Root
	if root == "" {
		root = "not an index that this version can use"
	}
	what := tool.Count(k.Texts, "file")
	if k.Kind == "notes" {
		what = "notes"
	}
	return fmt.Sprintf("%s  %8s  %s  %s\n  %s", moment(k.Used), megabytes(k.Bytes), what, printable(root), k.File)
}

func megabytes(bytes int64) string { return fmt.Sprintf("%.1f MB", float64(bytes)/(1<<20)) }

func (c *command) indexBuild() *cobra.Command {
	return &cobra.Command{Use: "build [FOLDER]", Short: "Index a folder or update its index now", Args: cobra.MaximumNArgs(1),
		Example: "  sibyl index build\n  sibyl index build ~/src/linux",
		RunE: c.onPrepared(func(ctx context.Context, a *app.App, args []string) error {
			err := a.BuildIndex(ctx, nameOr(args, "."))
			if errors.Is(err, app.ErrNoIndex) {
				return withCode(ExitUsage, err)
			}
			return err
		})}
}

func (c *command) indexClear() *cobra.Command {
	return &cobra.Command{Use: "clear [FOLDER...]", Short: "Remove the indexes of folders, or all of them",
		Example: "  sibyl index clear\n  sibyl index clear ~/src/linux",
		RunE: c.onIndex(func(ctx context.Context, store *index.Caches, args []string) error {
			var roots []string
			for _, dir := range args {
				root, err := app.IndexedFolder(dir)
				if err != nil { // a folder that is gone may still have an index
					root = strings.TrimRight(dir, "/")
				}
				roots = append(roots, root)
			}
			removed, bytes, err := store.Clear(ctx, roots...)
			fmt.Fprintf(c.Err, "· indexes removed: %s, %s\n", fmt.Sprint(removed), megabytes(bytes))
			return err
		})}
}

// onIndex runs a command on the place of the indexes.
func (c *command) onIndex(do func(ctx context.Context, store *index.Caches, args []string) error) func(*cobra.Command, []string) error {
	return c.onPrepared(func(ctx context.Context, a *app.App, args []string) error {
		store := a.Index()
		if store == nil {
			return withCode(ExitUsage, app.ErrNoIndex)
		}
		return do(ctx, store, args)
	})
}
