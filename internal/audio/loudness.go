package audio

import "math"

const (
	windows = 5    // in a second, over each of which loudness is taken: a short word
	quiet   = 50.0 // root mean square of a 16-bit sample, below which a window is silent: -56 dB; noise of a converter has 14, speech thousands
	fullest = 1 << 15
)

// meter takes the root mean square of samples, of which 1 is full scale, over windows.
type meter struct {
	perWindow int // samples of all channels in a window
	n         int
	sum       float64 // of the squares in this window

	loudest    float64              // mean square of the loudest window
	whole, all float64              // sum of all squares, and their number
	deaf       bool                 // something could not be heard
	closed     func(square float64) // if set, is told each window
}

func newMeter(rate, channels int) *meter {
	return &meter{perWindow: max(rate/windows, 1) * max(channels, 1)}
}

func (m *meter) add(sample float64) {
	if math.IsNaN(sample) || math.IsInf(sample, 0) {
		m.deaf = true
		return
	}
	m.sum += sample * sample
	if m.n++; m.n == m.perWindow {
		m.close()
	}
}

// close ends the window. The last one may be shorter than the others.
func (m *meter) close() {
	if m.n > 0 {
		square := m.sum / float64(m.n)
		m.loudest = max(m.loudest, square)
		if m.closed != nil {
			m.closed(square)
		}
		m.whole += m.sum
		m.all += float64(m.n)
	}
	m.n, m.sum = 0, 0
}

// heard says that something is not silent.
func (m *meter) heard() bool { return math.Sqrt(m.loudest)*fullest >= quiet }

// silent is what the samples say when all of them were added; nil if that can't be told.
func (m *meter) silent() *bool {
	m.close()
	answer := !m.heard()
	if answer && (m.deaf || m.all == 0) {
		return nil
	}
	return &answer
}

// level is the root mean square of all samples, in steps of 16 bits.
func (m *meter) level() float64 {
	if m.all == 0 {
		return 0
	}
	return math.Sqrt(m.whole/m.all) * fullest
}
