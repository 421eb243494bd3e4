package oracle

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"sibyl/internal/agent"
	"sibyl/internal/bt"
	"sibyl/internal/files"
	"sibyl/internal/journal"
	"sibyl/internal/media/document"
	"sibyl/internal/model"
	"sibyl/internal/run"
	"sibyl/internal/service/assistant"
)

// Bounds of the pictures of a question, within the limits of all providers. These limits are in base64, in which
// MaxPicture bytes are 5 MiB.
const (
	MaxPictures = 4
	MaxPicture  = 5 << 20 / 4 * 3
)

// pictureType is the media type of a picture, by its content; "" if it is not a picture.
func pictureType(content []byte) string {
	if len(content) > 12 && string(content[4:8]) == "ftyp" { // what phones write
		switch string(content[8:11]) {
		case "hei", "hev", "mif":
			return "image/heic"
		case "avi":
			return "image/avif"
		}
	}
	kind := http.DetectContentType(content)
	if !strings.HasPrefix(kind, "image/") {
		return ""
	}
	return kind
}

func picturePart(name string, content []byte) (document.Part, error) {
	switch kind := pictureType(content); {
	case !slices.Contains(model.PictureTypes(), kind):
		return document.Part{}, document.Refuse(document.Unsupported, name,
			"models take PNG, JPEG, WEBP and GIF, and it is another kind of picture; convert it, and attach that")
	case len(content) > MaxPicture:
		return document.Part{}, document.Refuse(document.TooLarge, name,
			"it is a picture of %s, more than the limit of %s; make it smaller, and attach that",
			agent.Size(len(content)), agent.Size(MaxPicture))
	default:
		return document.Part{Name: name, Type: kind, Hash: files.Hash(content),
			Text: base64.StdEncoding.EncodeToString(content)}, nil
	}
}

// readMaterial returns what a question is about: the material without the content of its pictures, and that content by
// hash. It takes the request's own material, or that of the question it replaces, if the options say so.
func readMaterial(
	ctx context.Context, store run.History, r assistant.Request, o Options,
) (material string, pictures []run.Text, err error) {
	if !o.SameMaterial || r.Replaces == "" {
		if material, pictures, err = withoutPictures(o.Material); err != nil {
			err = &assistant.RequestError{Why: wrongPictures.With(err.Error())}
		}
		return material, pictures, err
	}
	content, err := run.ReadText(ctx, store, r.Owner, r.Replaces, MaterialText)
	if err != nil {
		return "", nil, err
	}
	material = string(content)
	pictures, err = readPictures(ctx, store, r.Owner, r.Replaces, picturesOf(document.SplitParts(material)))
	return material, pictures, err
}

// picturesOf are those of the parts that are pictures.
func picturesOf(parts []document.Part) (all []document.Part) {
	for _, p := range parts {
		if p.Type != "" {
			all = append(all, p)
		}
	}
	return all
}

// readPictures reads the content of pictures that a run keeps.
func readPictures(
	ctx context.Context, store run.History, owner journal.Owner, id string, pictures []document.Part,
) (all []run.Text, err error) {
	for _, p := range pictures {
		content, err := run.ReadText(ctx, store, owner, id, p.Hash)
		if err != nil {
			return nil, err
		}
		all = append(all, run.Text{Name: p.Hash, Content: content, Raw: true})
	}
	return all, nil
}

// earlierMaterialName is the name under which a run keeps what it shows again of what was handed over with an earlier
// one.
func earlierMaterialName(id string) string { return MaterialText + " of " + id }

// withoutPictures removes the content of pictures from a material. The material is not trusted: type and hash of each
// picture are computed again.
func withoutPictures(material string) (rest string, pictures []run.Text, err error) {
	parts := document.SplitParts(material)
	for i, p := range parts {
		if p.Type == "" {
			continue
		}
		content, err := base64.StdEncoding.DecodeString(p.Text)
		if err != nil {
			return "", nil, document.Refuse(document.Damaged, p.Name, "it is no picture in base64")
		}
		if parts[i], err = picturePart(p.Name, content); err != nil {
			return "", nil, err
		}
		parts[i].Text = ""
		pictures = append(pictures, run.Text{Name: parts[i].Hash, Content: content, Raw: true})
	}
	switch {
	case len(pictures) == 0:
		return material, nil, nil
	case len(pictures) > MaxPictures:
		return "", nil, fmt.Errorf("there are %d pictures, more than the limit of %d: attach fewer at a time",
			len(pictures), MaxPictures)
	}
	return document.JoinParts(parts), pictures, nil
}

// pictureNames are the names of the pictures that were handed over.
func (e Env) pictureNames() (names []string) {
	for _, p := range picturesOf(e.Parts) {
		names = append(names, p.Name)
	}
	return names
}

// refusePictures is the error for a model that takes no pictures.
func refusePictures(name string, pictures []string) error {
	shown := agent.Listed(pictures, "and")
	why := fmt.Sprintf("nothing was sent, as %s takes no pictures, and %s is attached", name, shown)
	help := "name a model that does with -m (‘sibyl models’ lists those there " +
		"are), or attach the text in it, recognised (OCR)"
	if name == model.OfflineRules {
		why, help = fmt.Sprintf("no language model is in use, and without one nobody can look at %s", shown),
			"‘sibyl init’ sets one up"
	}
	return &assistant.RequestError{
		Kind: "no_pictures",
		Why:  bt.Because(why),
		Hint: "choose a model that takes pictures, or attach the text in them",
		Err:  fmt.Errorf("%s: %s", why, help),
	}
}

// loadedMaterial is what was handed over with a question.
type loadedMaterial struct {
	parts    []document.Part
	pictures []model.Picture // among them, in their order
}

// loadMaterial reads the material that a run keeps under a name, with its pictures.
func loadMaterial(ctx context.Context, v *run.View, name string) (m loadedMaterial, err error) {
	if m.parts, err = materialParts(ctx, v, name); err != nil {
		return m, err
	}
	for _, p := range picturesOf(m.parts) {
		content, err := v.Text(ctx, p.Hash)
		if err != nil {
			return m, err
		}
		m.pictures = append(m.pictures, model.Picture{Type: p.Type, Data: content})
	}
	return m, nil
}

// with is the material followed by another.
func (m loadedMaterial) with(other loadedMaterial) loadedMaterial {
	return loadedMaterial{slices.Concat(m.parts, other.parts), slices.Concat(m.pictures, other.pictures)}
}

// messageWith is a message of the user: the words, and below them the numbered material.
func (m loadedMaterial) messageWith(words string) model.Message {
	if len(m.parts) > 0 {
		words += "\n\n" + agent.Material(numberParts(m.parts))
	}
	return model.Message{Role: model.User, Text: words, Pictures: m.pictures}
}
