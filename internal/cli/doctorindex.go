package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"sibyl/internal/agent"
	"sibyl/internal/app"
	"sibyl/internal/index"
)

// indexTime bounds the look at the indexes.
const indexTime = 5 * time.Second

// checkIndex says where the indexes lie, how large they are, and what helps where one is damaged, which is no fault: the next search makes it anew.
func checkIndex(ctx context.Context, a *app.App) finding {
	f := finding{What: "index"}
	store := a.Index()
	if store == nil {
		f.Says, f.Fix = "off", "fast searches of large folders: set index.use to on, and index.folder where there is no home folder"
		return f
	}
	ctx, cancel := context.WithTimeout(ctx, indexTime)
	defer cancel()
	all, err := store.List(ctx)
	if err != nil {
		f.Says, f.Fix = store.Folder()+" can't be read: "+err.Error(), "let yourself read and write it, or name another with ‘sibyl config set index.folder FOLDER’; until then nothing is indexed"
		return f
	}
	if len(all) == 0 {
		f.OK, f.Says = true, "nothing is indexed yet; indexes will lie in "+store.Folder()
		return f
	}
	var bytes int64
	for _, k := range all {
		bytes += k.Bytes
	}
	f.OK, f.Says = true, fmt.Sprintf("%s in %s, %s of at most %s", agent.Counted(len(all), "file"), store.Folder(), agent.Size(int(bytes)), agent.Size(index.DefaultBound))
	damaged, err := store.Damaged(ctx)
	if len(damaged) > 0 {
		var names []string
		for _, k := range damaged[:min(3, len(damaged))] {
			names = append(names, k.File)
		}
		f.OK, f.Says = false, f.Says+fmt.Sprintf("; %d can't be used: %s", len(damaged), strings.Join(names, ", "))
		f.Fix = "nothing is lost: the next search of their folders makes them anew; ‘sibyl index clear’ removes all now"
	} else if err != nil {
		f.Says += "; not all of it could be checked in time"
	}
	return f
}
