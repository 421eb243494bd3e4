package stories

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"sibyl/internal/behaviour/assert"
)

// update writes the kept pictures anew.
var update = flag.Bool("update", false, "write the sketches of testdata/pictures anew")

// widths are those at which every view is looked at, from a phone's to a wide screen's.
func widths() []int { return []int{360, 900, 1600} }

// high is how high the window is then.
const high = 900

// looks looks at what is shown, in both colours and at each width: it is accessible, scrolls nowhere sideways, and
// looks as it does in testdata/pictures. What ends name is scrolled to its end first.
func (p *tab) looks(name string, ends ...string) {
	p.Helper()
	kept := p.kept(name)
	sheet := image.NewPaletted(sheetSize(), greys())
	for row, colours := range []string{"light", "dark"} {
		p.turns(colours)
		for at, width := range widths() {
			what := fmt.Sprintf("%s-%s-%d", name, colours, width)
			p.do("being so wide", chromedp.EmulateViewport(int64(width), high))
			p.fits()
			place := onSheet(row, at)
			draw.Draw(sheet, place, p.resembles(name, what, sub(kept, place), ends), image.Point{}, draw.Src)
			if width == widths()[0] && colours == "light" {
				p.axe(what, withoutColours)
			}
		}
		p.axe(name+", "+colours, map[string]string{"dark": coloursAlone}[colours])
	}
	if *update {
		p.keep(name, sheet)
	}
	p.turns("light")
	p.do("being as wide as before", chromedp.EmulateViewport(p.width, high))
}

// turns shows the page in other colours.
func (p *tab) turns(colours string) {
	p.Helper()
	p.do("changing colours", chromedp.Evaluate[chromedp.Void](`document.documentElement.dataset.colours = `+
		quoted(colours)+`; undefined`))
}

// onSheet is the place of a sketch in a picture with those of a view: the widths beside each other, dark below light.
func onSheet(row, column int) image.Rectangle {
	left := 0
	for _, width := range widths()[:column] {
		left += width / reduced
	}
	return image.Rect(0, 0, widths()[column]/reduced, high/reduced).Add(image.Pt(left, row*high/reduced))
}

func sheetSize() image.Rectangle { return image.Rectangle{Max: onSheet(1, len(widths())-1).Max} }

func keptAt(name string) string { return filepath.Join("testdata", "pictures", name+".png") }

// kept is the sheet of a view, or nil while sheets are written.
func (p *tab) kept(name string) *sketch {
	p.Helper()
	if *update {
		return nil
	}
	text, err := os.ReadFile(keptAt(name))
	assert.Require(p, err == nil, "%v: go test -run %s -update . writes it", err, p.Name())
	sheet, err := png.Decode(bytes.NewReader(text))
	if err != nil {
		p.Fatalf("%s: %v", keptAt(name), err)
	}
	s, ok := sheet.(*sketch)
	if !ok || s.Rect != sheetSize() {
		p.Fatalf("%s is no sheet of sketches: -update writes it", keptAt(name))
	}
	return s
}

func (p *tab) keep(name string, sheet *sketch) {
	p.Helper()
	assert.NoError(p, os.MkdirAll(filepath.Dir(keptAt(name)), 0o755))
	assert.NoError(p, os.WriteFile(keptAt(name), encoded(sheet), 0o644))
}

func sub(sheet *sketch, place image.Rectangle) *sketch {
	if sheet == nil {
		return nil
	}
	one := image.NewPaletted(image.Rectangle{Max: place.Size()}, greys())
	draw.Draw(one, one.Rect, sheet, place.Min, draw.Src)
	return one
}

// settling is how long a view may change while its sheet is written.
const settling = 5 * time.Second

// resembles waits until the tab looks as it was kept, and gives its sketch. While sheets are written it waits until the
// tab looks the same twice.
func (p *tab) resembles(name, what string, kept *sketch, ends []string) *sketch {
	p.Helper()
	wait := patience
	if *update {
		wait = settling
	}
	pause := 50 * time.Millisecond
	for end := time.Now().Add(wait); ; time.Sleep(pause) {
		pause = min(2*pause, time.Second) // a picture costs much
		for _, end := range ends {        // each time, as what is above it may still grow
			p.do("going to its end", chromedp.Evaluate[chromedp.Void](`document.querySelector(`+quoted(end)+
				`).scrollIntoView({ block: "end", behavior: "instant" })`))
		}
		picture := p.shown()
		seen := sketchOf(picture)
		late := time.Now().After(end)
		var places []image.Rectangle
		var same bool
		if *update {
			same = late || kept != nil && bytes.Equal(kept.Pix, seen.Pix)
			kept = seen
		} else {
			var tooMany bool
			places, tooMany = otherwise(kept, seen)
			same = !tooMany
		}
		if folder := os.Getenv("SIBYL_PICTURES"); folder != "" && (same || late) {
			p.write(folder, what, picture)
		}
		if same {
			return seen
		}
		if late {
			folder := failures()
			p.write(folder, what, picture)
			p.write(folder, what+"-difference", outlined(picture, places))
			p.Errorf("%s looks otherwise than %s, which -update writes anew: the picture and the difference are in %s",
				what, keptAt(name), folder)
			return seen
		}
	}
}

// shown is what the tab shows.
func (p *tab) shown() image.Image {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.Context, patience)
	defer cancel()
	fast := true
	taken, err := chromedp.Call(ctx, page.CaptureScreenshot, page.CaptureScreenshotParams{OptimizeForSpeed: &fast})
	if err != nil {
		p.fail("taking a picture", err)
	}
	picture := assert.Must(png.Decode(bytes.NewReader(taken.Data)))(p)
	return picture
}

// failures is the folder of pictures that are otherwise than they were kept. It is there for eyes after the tests.
var failures = sync.OnceValue(func() string {
	if folder := os.Getenv("SIBYL_PICTURES"); folder != "" {
		return folder
	}
	folder, err := os.MkdirTemp("", "sibyl-pictures-")
	if err != nil {
		return os.TempDir()
	}
	return folder
})

func (p *tab) write(folder, what string, picture image.Image) {
	assert.Nil(p, os.WriteFile(filepath.Join(folder, what+".png"), encoded(picture), 0o600))
}

// outlined is a picture with frames around places of it.
func outlined(picture image.Image, places []image.Rectangle) image.Image {
	shown := image.NewRGBA(picture.Bounds())
	draw.Draw(shown, shown.Rect, picture, picture.Bounds().Min, draw.Src)
	red := image.NewUniform(color.RGBA{R: 220, A: 255})
	for _, place := range places {
		for _, side := range []image.Rectangle{{place.Min, image.Pt(place.Max.X, place.Min.Y+2)},
			{image.Pt(place.Min.X, place.Max.Y-2), place.Max}, {place.Min, image.Pt(place.Min.X+2, place.Max.Y)},
			{image.Pt(place.Max.X-2, place.Min.Y), place.Max}} {
			draw.Draw(shown, side, red, image.Point{}, draw.Src)
		}
	}
	return shown
}
