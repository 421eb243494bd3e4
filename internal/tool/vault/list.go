package vault

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"sibyl/internal/tool"
)

const mostListed = 500 // folders

// ListData is the Data of vault_list.
type ListData struct {
	Folder  string       `json:"folder"`  // "." is the whole vault
	Folders []FolderInfo `json:"folders"` // directly in the folder, at most 500
	Notes   []NoteInfo   `json:"notes"`   // by path
	Total   int          `json:"total"`   // notes there are
	Skipped []string     `json:"skipped,omitempty"`
}

// FolderInfo is a folder, with the number of notes below it at any depth.
type FolderInfo struct {
	Path  string `json:"path"`
	Notes int    `json:"notes"`
}

// NoteInfo is a note in a listing.
type NoteInfo struct {
	Path  string   `json:"path"`
	Title string   `json:"title"`
	Date  string   `json:"date,omitempty"` // as the front matter has it
	Tags  []string `json:"tags,omitempty"` // at most 20
	Lines int      `json:"lines"`
}

type listArgs struct {
	Folder    string `json:"folder,omitempty" doc:"folder to list; the vault itself if left out"`
	Tag       string `json:"tag,omitempty" doc:"list only notes with this tag or one below it"`
	Recursive bool   `json:"recursive,omitempty" doc:"list the notes in folders below it too"`
	From      int    `json:"from,omitempty" doc:"number of the first note to list, to go on with a long list" min:"1" default:"1"`
	Limit     int    `json:"limit,omitempty" doc:"notes to list" min:"1" max:"500" default:"100"`
}

func (v *Vault) listTool() tool.Tool {
	return reader(v, tool.Spec{
		Name:        "vault_list",
		Description: "Lists the notes and folders in a folder of the vault, with titles, tags and dates. Use it to see what there is; to find words use vault_search.",
	}, v.list)
}

func (v *Vault) list(_ context.Context, s *snapshot, args listArgs) (tool.Result, error) {
	folder, err := s.folder(args.Folder, "vault_list without a folder shows what there is")
	if err != nil {
		return tool.Result{}, err
	}
	data := ListData{Folder: folder, Folders: s.foldersIn(folder), Notes: []NoteInfo{}, Skipped: s.skippedList()}
	for _, n := range s.notes {
		if !under(n.path, folder) || !args.Recursive && path.Dir(n.path) != folder || args.Tag != "" && !n.tagged(args.Tag) {
			continue
		}
		if data.Total++; data.Total >= args.From && len(data.Notes) < args.Limit {
			data.Notes = append(data.Notes, NoteInfo{n.path, n.title, n.date, n.tags[:min(len(n.tags), 20)], n.lines})
		}
	}
	cut := len(data.Folders) > mostListed
	data.Folders = data.Folders[:min(len(data.Folders), mostListed)]
	text, shown := data.text(args.From)
	data.Notes = data.Notes[:shown]
	refs := make([]tool.Ref, 0, shown)
	for _, n := range data.Notes {
		refs = append(refs, tool.Ref{Source: tool.Vault, Path: n.Path, Title: n.Title})
	}
	return answer(text, data, refs, shown, cut || args.From-1+shown < data.Total)
}

// foldersIn returns the folders directly in folder.
func (s *snapshot) foldersIn(folder string) []FolderInfo {
	folders := []FolderInfo{}
	for _, f := range s.folders {
		if path.Dir(f) != folder {
			continue
		}
		const afterSlash = "0" // the character after /: what begins with f/ sorts between the two
		folders = append(folders, FolderInfo{Path: f, Notes: s.position(f+afterSlash) - s.position(f+"/")})
	}
	return folders
}

// position is how many notes sort before the path p.
func (s *snapshot) position(p string) int {
	i, _ := slices.BinarySearchFunc(s.notes, p, func(n *note, p string) int { return strings.Compare(n.path, p) })
	return i
}

// text lists the folders and as many notes as fit, and says how many did.
func (data *ListData) text(first int) (text string, shown int) {
	const room = tool.MaxText - 8<<10 // for the last lines
	var b strings.Builder
	name := "The vault"
	if data.Folder != "." {
		name = data.Folder
	}
	fmt.Fprintf(&b, "%s: %s, %s.\n", name, tool.Count(len(data.Folders), "folder"), tool.Count(data.Total, "note"))
	for _, f := range data.Folders {
		if b.Len() > room/2 {
			b.WriteString("- … more folders\n")
			break
		}
		fmt.Fprintf(&b, "- %s/ (%s)\n", f.Path, tool.Count(f.Notes, "note"))
	}
	for i, n := range data.Notes {
		if b.Len() > room {
			break
		}
		fmt.Fprintf(&b, "%d. %s  %s", first+i, n.Path, n.Title)
		if n.Date != "" {
			fmt.Fprintf(&b, "  (%s)", n.Date)
		}
		if len(n.Tags) > 0 {
			fmt.Fprintf(&b, "  #%s", tool.Clip(strings.Join(n.Tags, " #"), 400))
		}
		b.WriteByte('\n')
		shown++
	}
	if last := first - 1 + shown; shown > 0 && last < data.Total {
		fmt.Fprintf(&b, "%d more; go on with from %d.\n", data.Total-last, last+1)
	}
	return b.String() + skippedText(data.Skipped), shown
}
