package bt

import (
	"encoding/xml"
	"errors"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
)

type modelFile struct {
	Format string `xml:"BTCPP_format,attr"`
	Model  struct {
		Nodes []model `xml:",any"`
	} `xml:"TreeNodesModel"`
}

type model struct {
	XMLName     xml.Name
	ID          string `xml:",attr"`
	Description string `xml:"description"`
	Ports       []struct {
		XMLName xml.Name
		Name    string  `xml:"name,attr"`
		Type    string  `xml:"type,attr"`
		Default *string `xml:"default,attr"`
		Doc     string  `xml:",chardata"`
	} `xml:",any"`
}

// lines shows a model: "Action Ask: asks a model", then its ports.
func (m *model) lines() string {
	b := &strings.Builder{}
	b.WriteString(m.XMLName.Local + " " + m.ID + ": " + m.Description + "\n")
	for _, p := range m.Ports {
		b.WriteString(p.XMLName.Local + " " + p.Name + " " + p.Type)
		if p.Default != nil {
			b.WriteString(" =" + *p.Default)
		}
		b.WriteString(": " + p.Doc + "\n")
	}
	return b.String()
}

func models(t *testing.T, r *Leaves) (string, map[string]string) {
	t.Helper()
	b := &strings.Builder{}
	assert.NoError(t, r.Models(b))
	var f modelFile
	err := xml.Unmarshal([]byte(b.String()), &f)
	assert.Require(t, err == nil, "%v in\n%s", err, b)
	assert.That(t, f.Format == "4", "format %q", f.Format)
	byID := map[string]string{}
	for _, m := range f.Model.Nodes {
		byID[m.ID] = m.lines()
	}
	return b.String(), byID
}

func TestModelsDescribeOurNodesWithTheirPorts(t *testing.T) {
	odd := Func(`Odd`, `says "a" <b> & c`, func(in struct {
		In    string `port:"in" default:"<&>" doc:"<in>"`
		Both  int    `port:"both,optional" doc:"both ways"`
		Empty string `port:"empty" default:""`
	}, _ *struct {
		Both int      `port:"both" doc:"both ways"`
		Out  []string `port:"out"`
		Flag bool     `port:"flag"`
		Tell []Typed  `port:",events"`
	}) error {
		return nil
	})
	_, byID := models(t, registry(t, odd, needLeaf(), askLeaf()))
	want := map[string]string{
		"Odd": "Action Odd: says \"a\" <b> & c\ninput_port in std::string =<&>: <in>\ninout_port both int: both " +
			"ways\ninput_port empty std::string =: \noutput_port out []string: \noutput_port flag bool: \n",
		"Need": "Condition Need: wants a text\ninput_port text std::string: some words\n",
		"Ask": "Action Ask: asks a model\ninput_port question std::string: the person's words\ninput_port limit int " +
			"=3: how many hits\ninput_port hint std::string: \noutput_port answer std::string: the model's words\n",
		"Loop": "Decorator Loop: Runs the child until a key is true, at most max times. A " +
			"FAILURE of the child is FAILURE at once.\n" +
			"input_port max int: how often the child may run; FAILURE when that did not set `until`\n" +
			"input_port until bool: a bool key: once true after a SUCCESS of the child, the loop is SUCCESS\n" +
			"output_port turn int: written before each run of the child: 1, 2 … max\n" +
			"output_port last bool: written with it: true in the last run\n",
	}
	assert.Same(t, want, byID)
}

func TestModelsAreTheSameEveryTime(t *testing.T) {
	first, _ := models(t, registry(t, needLeaf(), askLeaf(), emitLeaf(&values{}), useLeaf(func(values) {})))
	for range 10 {
		again, _ := models(t, registry(t, useLeaf(func(values) {}), emitLeaf(&values{}), askLeaf(), needLeaf()))
		assert.Require(t, again == first, "the order of leaves matters:\n%s\n%s", first, again)
	}
}

func TestModelsCanStandInATreeFile(t *testing.T) {
	text, _ := models(t, someLeaves(t))
	model := text[strings.Index(text, "<TreeNodesModel>"):strings.Index(text, "</root>")]
	load(t, someLeaves(t), file(`<Need text="a"/>`, model), Options{})
}

type brokenWriter struct{}

var errFull = errors.New("full")

func (brokenWriter) Write([]byte) (int, error) { return 0, errFull }

func TestModelsReportsAFailingWriter(t *testing.T) {
	assert.ErrorIs(t, someLeaves(t).Models(brokenWriter{}), errFull)
}
