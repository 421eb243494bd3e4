package rules

import (
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
	"sync"

	"sibyl/internal/learned"
)

// Probabilities from which on a clash is asked about if there is little else to ask, is asked about, is told as a suspicion where nobody can be asked, and is recorded there. They were chosen
// on interviews by hands that the model had not seen, so that nine of ten that are recorded are some. Where both sides name what a number or
// a day is of, less is enough.
const (
	doubtful     = 0.07
	suspected    = 0.2
	worthTelling = 0.35
	firm         = 0.77
	firmIfNamed  = 0.6
)

// isFirm says whether a clash is recorded where nobody can be asked.
func isFirm(a, b *mention, probability float64) bool {
	if (a.kind == Number || a.kind == Date) && shared(a.stems, b.stems) >= 2 {
		return probability >= firmIfNamed
	}
	return probability >= firm
}

//go:generate go test -count=1 -run ^TestTheWeightsOf(Clashes|Replies)Are . -update

//go:embed clash.weights
var clashWeights []byte

//go:embed reply.weights
var replyWeights []byte

// judges say how probable a clash is, by its kind.
var judges = sync.OnceValue(func() map[string]*judge {
	all, err := loadJudges(clashWeights)
	if err != nil {
		panic(err) // the file is part of the program, and a test reads it
	}
	return all
})

// replies says what the reply to a question about two answers does.
var replies = sync.OnceValue(func() *learned.Model {
	m, err := learned.Load(replyWeights)
	if err != nil {
		panic(err)
	}
	return m
})

// judge weighs the evidence of clashes of one kind twice: by a sum, and by small trees, which see what goes together. What both say counts half.
type judge struct {
	mean, scale []float64 // of each number of the evidence
	names       []string
	line        *learned.Model
	trees       forest
}

// classes of the sum.
const (
	agrees  = "agrees"
	clashes = "clashes"
)

// widest is how far a number of the evidence counts from its mean, in standard deviations.
const widest = 4

// standard adds evidence as the sum takes it.
func (j *judge) standard(out []learned.Feature, e []float64) []learned.Feature {
	for i, v := range e {
		out = append(out, learned.Feature{Name: j.names[i], Value: max(-widest, min(widest, float64((v-j.mean[i])*j.scale[i])))})
	}
	return out
}

// probability of a clash of two mentions.
func (c *Case) probability(a, b *mention) float64 {
	j, e := judges()[a.kind], c.evidence(a, b)
	if len(e) != len(j.mean) {
		return 0
	}
	c.standard = j.standard(c.standard[:0], e)
	return j.probability(e, c.standard)
}

func (j *judge) probability(e []float64, standard []learned.Feature) float64 {
	p := max(1e-9, min(1-1e-9, j.line.Probabilities(standard)[1]))
	return 1 / (1 + math.Exp(-(math.Log(p/(1-p))+j.trees.score(e))/2))
}

func names(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = strconv.Itoa(i)
	}
	return out
}

var kinds = [...]string{Number, Date, Name, Negation}

var errWeights = errors.New("the weights of clashes are cut off or damaged")

// bytes writes a judge: the numbers of its evidence, the length and bytes of the sum, and the trees.
func (j *judge) bytes() []byte {
	out := binary.LittleEndian.AppendUint16(nil, uint16(len(j.mean)))
	for i := range j.mean {
		out = appendFloat(appendFloat(out, j.mean[i]), j.scale[i])
	}
	line := j.line.Bytes()
	out = append(binary.LittleEndian.AppendUint32(out, uint32(len(line))), line...)
	return j.trees.append(out)
}

func appendFloat(out []byte, v float64) []byte {
	return binary.LittleEndian.AppendUint32(out, math.Float32bits(float32(v)))
}

// loadJudges reads one after the other.
func loadJudges(content []byte) (map[string]*judge, error) {
	r := reader{rest: content}
	all := map[string]*judge{}
	for _, kind := range kinds {
		j := &judge{}
		n := int(r.uint16())
		for range n {
			if r.failed {
				return nil, errWeights
			}
			j.mean, j.scale = append(j.mean, r.float()), append(j.scale, r.float())
		}
		j.names = names(n)
		line, err := learned.Load(r.take(int(r.uint32())))
		if err != nil {
			return nil, fmt.Errorf("weights of clashes of the kind %s: %w", kind, err)
		}
		if line.Class(agrees) != 0 || line.Class(clashes) != 1 {
			return nil, errWeights
		}
		j.line = line
		if j.trees = r.forest(n); r.failed {
			return nil, errWeights
		}
		all[kind] = j
	}
	if len(r.rest) > 0 {
		return nil, errWeights
	}
	return all, nil
}

// reader takes numbers from bytes; what is cut off gives 0, and failed.
type reader struct {
	rest   []byte
	failed bool
}

func (r *reader) take(n int) []byte {
	if n < 0 || n > len(r.rest) {
		r.failed, r.rest = true, nil
		return nil
	}
	part := r.rest[:n]
	r.rest = r.rest[n:]
	return part
}

func (r *reader) uint16() uint16 {
	if b := r.take(2); b != nil {
		return binary.LittleEndian.Uint16(b)
	}
	return 0
}

func (r *reader) uint32() uint32 {
	if b := r.take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (r *reader) float() float64 { return float64(math.Float32frombits(r.uint32())) }
