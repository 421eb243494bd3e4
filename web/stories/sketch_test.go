package stories

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"math/rand/v2"
	"testing"

	"sibyl/internal/behaviour/assert"
)

// A sketch is a picture reduced until it shows where something is, and no letters: each of its points is the mean grey
// of a square of the picture, in 64 steps. Another machine's fonts give nearly the same one, a column that moved does
// not.
type sketch = image.Paletted

const (
	step    = 4    // between two greys
	reduced = 10   // the side of a square that is one point of a sketch, in pixels
	cell    = 3    // the side of what is compared at once, in points
	leeway  = 5    // how much darker or lighter than all that is kept around it a cell may be, of 255
	most    = .015 // the share of cells that may be otherwise
)

// greys are those of a sketch.
func greys() color.Palette {
	all := make(color.Palette, 64)
	for i := range all {
		all[i] = color.Gray{Y: uint8(i * step)}
	}
	return all
}

// sketchOf reduces a picture.
func sketchOf(picture image.Image) *sketch {
	of := picture.Bounds()
	rgba := image.NewRGBA(of)
	draw.Draw(rgba, of, picture, of.Min, draw.Src)
	s := image.NewPaletted(image.Rect(0, 0, of.Dx()/reduced, of.Dy()/reduced), greys())
	for y := range s.Rect.Dy() {
		for x := range s.Rect.Dx() {
			sum := 0
			for dy := range reduced {
				row := rgba.Pix[rgba.PixOffset(of.Min.X+x*reduced, of.Min.Y+y*reduced+dy):][:4*reduced]
				for i := 0; i < len(row); i += 4 {
					sum += 299*int(row[i]) + 587*int(row[i+1]) + 114*int(row[i+2])
				}
			}
			s.SetColorIndex(x, y, uint8(sum/(1000*reduced*reduced)/step))
		}
	}
	return s
}

// tones are the mean greys of a sketch's cells, row by row.
func tones(s *sketch) (wide int, all []float64) {
	wide, high := s.Rect.Dx()/cell, s.Rect.Dy()/cell
	for y := range high {
		for x := range wide {
			sum := 0
			for dy := range cell {
				for dx := range cell {
					sum += step * int(s.ColorIndexAt(s.Rect.Min.X+x*cell+dx, s.Rect.Min.Y+y*cell+dy))
				}
			}
			all = append(all, float64(sum)/(cell*cell))
		}
	}
	return wide, all
}

// otherwise gives the cells of one sketch that nothing near their place in the other explains, in pixels of the
// picture, and whether they are too many: letters may be wider and a line lower than they were.
func otherwise(kept, seen *sketch) (places []image.Rectangle, tooMany bool) {
	if kept.Rect.Size() != seen.Rect.Size() {
		return []image.Rectangle{{Max: seen.Rect.Size().Mul(reduced)}}, true
	}
	wide, was := tones(kept)
	_, is := tones(seen)
	for at := range is {
		if strays(is[at], was, at, wide) || strays(was[at], is, at, wide) {
			corner := image.Pt(at%wide, at/wide).Mul(cell * reduced)
			places = append(places, image.Rectangle{Min: corner, Max: corner.Add(image.Pt(cell*reduced, cell*reduced))})
		}
	}
	return places, float64(len(places)) > most*float64(len(is))
}

// strays says whether a tone is far from all those around a place.
func strays(tone float64, around []float64, at, wide int) bool {
	low, high := around[at], around[at]
	for dy := -1; dy <= 1; dy++ {
		for dx := -1; dx <= 1; dx++ {
			if x, y := at%wide+dx, at/wide+dy; x >= 0 && x < wide && y >= 0 && y < len(around)/wide {
				low, high = min(low, around[y*wide+x]), max(high, around[y*wide+x])
			}
		}
	}
	return tone < low-leeway || tone > high+leeway
}

// encoded is a picture as PNG.
func encoded(picture image.Image) []byte {
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, picture); err != nil {
		panic(err) // a buffer takes everything
	}
	return b.Bytes()
}

// written is a picture of two columns of lines, the left one so wide.
func written(left int, ink func() uint8) *image.RGBA {
	page := image.NewRGBA(image.Rect(0, 0, 900, 900))
	draw.Draw(page, page.Rect, image.White, image.Point{}, draw.Src)
	column := func(from, to int) {
		for top := 20; top < 880; top += 24 {
			for y := top; y < top+9; y++ {
				for x := from; x < to; x++ {
					if x%7 < 4 {
						tone := ink()
						page.SetRGBA(x, y, color.RGBA{tone, tone, tone, 255})
					}
				}
			}
		}
	}
	column(20, left-20)
	column(left+60, 780)
	return page
}

func TestOtherLettersMakeTheSameSketchAndAMovedColumnDoesNot(t *testing.T) {
	hard := func() uint8 { return 30 }
	soft := func() uint8 { return uint8(10 + rand.IntN(60)) } // other antialiasing
	kept := sketchOf(written(300, hard))
	places, tooMany := otherwise(kept, sketchOf(written(300, soft)))
	assert.That(t, !tooMany, "other antialiasing is otherwise in %v", places)
	_, tooMany = otherwise(kept, sketchOf(written(430, hard)))
	assert.That(t, tooMany, "a column that moved by 130 pixels is not noticed")
	dark := image.NewRGBA(image.Rect(0, 0, 900, 900))
	draw.Draw(dark, dark.Rect, image.Black, image.Point{}, draw.Src)
	_, tooMany = otherwise(kept, sketchOf(dark))
	assert.That(t, tooMany, "darkness is not noticed")
}
