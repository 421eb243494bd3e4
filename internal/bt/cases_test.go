package bt

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"sort"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
)

var casesFile = flag.String("cases", "testdata/bt_cases.json", "a file of conformance cases in the format bt-cases/1")

// conformanceCase is one entry of a bt-cases/1 file; its "about" explains the fields.
type conformanceCase struct {
	ID          string
	Title       string
	Mode        string
	Tree        json.RawMessage
	Subtrees    map[string]json.RawMessage
	Init        map[string]any
	Ticks       []caseTick
	LoadError   bool `json:"load_error"`
	Recommended *struct {
		Ticks     []caseTick
		LoadError bool `json:"load_error"`
	}
}

type caseTick struct {
	Leaf     map[string]string
	Set      map[string]any
	AfterMS  int64 `json:"after_ms"`
	HaltTree bool  `json:"halt_tree"`
	Expect   struct {
		Status string
		Trace  []string
		BB     map[string]any
	}
}

type caseNode struct {
	Type, Name, ID string
	Attr           map[string]any
	Children       []json.RawMessage
}

// TestCases runs every case. Those with a node that is not in the kernel are skipped and counted.
func TestCases(t *testing.T) {
	text := assert.Must(os.ReadFile(*casesFile))(t)
	var file struct{ Cases []conformanceCase }
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatalf("%s: %v", *casesFile, err)
	}
	if len(file.Cases) == 0 {
		t.Fatalf("%s holds no cases", *casesFile)
	}
	ran, skipped := 0, 0
	for _, c := range file.Cases {
		t.Run(c.ID, func(t *testing.T) {
			if outside := c.unknownNodes(t); len(outside) > 0 {
				skipped++
				t.Skipf("not in the kernel: %s", strings.Join(outside, ", "))
			}
			ran++
			assert.Nilf(t, c.run(), "%s", c.Title)
		})
	}
	t.Logf("%d cases ran, %d skipped", ran, skipped)
}

func (c *conformanceCase) run() error {
	ticks, loadError := c.Ticks, c.LoadError
	if r := c.Recommended; r != nil {
		if r.Ticks != nil {
			ticks = r.Ticks
		}
		loadError = loadError || r.LoadError
	}
	p := &probe{}
	tree, err := c.load(p)
	if loadError {
		if err == nil {
			return fmt.Errorf("the tree loads")
		}
		return nil
	}
	if err != nil {
		// A tree that can only end in an error is refused earlier, when it is loaded.
		if len(ticks) > 0 && ticks[0].Expect.Status == "ERROR" {
			return nil
		}
		return err
	}
	s := tree.NewState()
	if err := setAll(tree, s, c.Init); err != nil {
		return err
	}
	now := int64(1000)
	for i, tick := range ticks {
		now += tick.AfterMS
		if err := c.tick(tree, s, p, tick, now); err != nil {
			return fmt.Errorf("tick %d: %w", i+1, err)
		}
	}
	return nil
}

func (c *conformanceCase) tick(tree *Tree, s *State, p *probe, tick caseTick, now int64) error {
	if err := setAll(tree, s, tick.Set); err != nil {
		return err
	}
	p.answers, p.trace, p.wrong = map[string]string{}, nil, nil
	for name, letters := range tick.Leaf {
		p.answers[name] = letters
	}
	on := func(e Event) { p.event(tree, e) }
	var status string
	switch {
	case tick.HaltTree:
		if _, err := tree.Halt(s, on); err != nil {
			return err
		}
		status = "IDLE"
	default:
		step := tree.Tick
		if c.Mode == "once" {
			step = tree.Step
		}
		res, err := step(s, Input{Now: now}, on)
		status = res.Status.String()
		if err != nil {
			status = "ERROR"
		}
		if res.Status == Failure && err == nil && res.Fault.Reason == "" {
			return fmt.Errorf("FAILURE without a reason")
		}
	}
	if p.wrong != nil {
		return p.wrong
	}
	for name, rest := range p.answers {
		if rest != "" {
			return fmt.Errorf("leaf %s was not asked for %q", name, rest)
		}
	}
	if status != tick.Expect.Status {
		return fmt.Errorf("status %s, want %s; trace %v", status, tick.Expect.Status, p.trace)
	}
	if got, want := strings.Join(p.trace, ", "), strings.Join(tick.Expect.Trace, ", "); got != want {
		return fmt.Errorf("trace %s, want %s", got, want)
	}
	for key, want := range tick.Expect.BB {
		if got, _ := tree.Get(s, key); got != want {
			return fmt.Errorf("key %s = %v, want %v", key, got, want)
		}
	}
	return idleIsIdle(tree, s)
}

// idleIsIdle checks the kernel's invariant after a tick.
func idleIsIdle(tree *Tree, s *State) error {
	for i := range tree.nodes {
		n, cell := &tree.nodes[i], s.Cells[i]
		cell.Keep = Idle
		if n.kind == kSequenceWithMemory && !cell.On {
			cell.At = 0
		}
		if !cell.On && cell != (Cell{}) {
			return fmt.Errorf("node %s is idle, but its cell is %+v", tree.Path(int32(i)), cell)
		}
		if cell.On && n.parent >= 0 && !s.Cells[n.parent].On {
			return fmt.Errorf("node %s runs below an idle one", tree.Path(int32(i)))
		}
	}
	return nil
}

// setAll writes entries that the tree may not know: nobody reads those.
func setAll(tree *Tree, s *State, entries map[string]any) error {
	for key, v := range entries {
		if _, known := tree.rootKeys[key]; !known {
			continue
		}
		if err := tree.Set(s, key, v); err != nil {
			return err
		}
	}
	return nil
}

// probe answers for all leaves of a case and keeps the trace.
type probe struct {
	answers map[string]string
	trace   []string
	wrong   error
}

func (p *probe) leaf() Leaf {
	return Leaf{Name: "Leaf", events: -1, class: funcLeaf, tick: func(_ *binding, x *exec, i int32) Status {
		name := x.t.nodes[i].name
		letters := p.answers[name]
		if letters == "" {
			p.wrong = fmt.Errorf("leaf %s was asked, but has no answer left", name)
			return x.fail(i, "", "no answer left")
		}
		p.answers[name] = letters[1:]
		p.trace = append(p.trace, name+"="+letters[:1])
		switch letters[0] {
		case 'S':
			return Success
		case 'R':
			return Running
		}
		return x.fail(i, "", name+" says F")
	}}
}

func (p *probe) event(t *Tree, e Event) {
	if e.Kind == Halted && t.nodes[e.Node].kind == kLeaf {
		p.trace = append(p.trace, "halt "+t.nodes[e.Node].name)
	}
}

func (c *conformanceCase) load(p *probe) (*Tree, error) {
	known, err := NewLeaves(p.leaf())
	if err != nil {
		return nil, err
	}
	b := &strings.Builder{}
	b.WriteString(`<root BTCPP_format="4" main_tree_to_execute="Main">`)
	b.WriteString(`<BehaviorTree ID="Main">` + nodeXML(c.Tree) + `</BehaviorTree>`)
	for _, id := range keysOf(c.Subtrees) {
		b.WriteString(`<BehaviorTree ID="` + id + `">` + nodeXML(c.Subtrees[id]) + `</BehaviorTree>`)
	}
	b.WriteString(`</root>`)
	keys := map[string]bool{}
	for key := range c.Init {
		keys[key] = true
	}
	for _, tick := range c.Ticks {
		for key := range tick.Set {
			keys[key] = true
		}
	}
	var given []Port
	for _, key := range keysOf(keys) {
		given = append(given, Port{Name: key})
	}
	tree, err := known.Load(c.ID+".xml", []byte(b.String()), Options{Given: given})
	if err != nil {
		return nil, err
	}
	return tree, nil
}

func nodeXML(raw json.RawMessage) string {
	n := parseCaseNode(raw)
	b := &strings.Builder{}
	fmt.Fprintf(b, "<%s", n.Type)
	if n.Name != "" {
		fmt.Fprintf(b, " name=%q", n.Name)
	}
	if n.ID != "" {
		fmt.Fprintf(b, " ID=%q", n.ID)
	}
	for _, k := range keysOf(n.Attr) {
		fmt.Fprintf(b, " %s=%s", k, quoted(fmt.Sprint(n.Attr[k])))
	}
	b.WriteString(">")
	for _, kid := range n.Children {
		b.WriteString(nodeXML(kid))
	}
	fmt.Fprintf(b, "</%s>", n.Type)
	return b.String()
}

func parseCaseNode(raw json.RawMessage) caseNode {
	var name string
	if json.Unmarshal(raw, &name) == nil {
		return caseNode{Type: "Leaf", Name: name}
	}
	var n caseNode
	if err := json.Unmarshal(raw, &n); err != nil {
		panic(err)
	}
	return n
}

func (c *conformanceCase) unknownNodes(t *testing.T) []string {
	t.Helper()
	unknown := map[string]bool{}
	var visit func(raw json.RawMessage)
	visit = func(raw json.RawMessage) {
		n := parseCaseNode(raw)
		if _, ok := kindByName[n.Type]; !ok && n.Type != "Leaf" && n.Type != "SubTree" {
			unknown[n.Type] = true
		}
		for _, kid := range n.Children {
			visit(kid)
		}
	}
	visit(c.Tree)
	for _, sub := range c.Subtrees {
		visit(sub)
	}
	names := keysOf(unknown)
	sort.Strings(names)
	return names
}
