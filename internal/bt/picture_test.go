package bt

import (
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
)

const pictured = `<root BTCPP_format="4" main_tree_to_execute="Main"><BehaviorTree ID="Main">
  <Sequence name="all">
    <Script code="done := false;
                  n    := 1"/>
    <Need name="Need" text="some words"/>
    <Loop max="3" until="{done}" turn="{turn}">
      <Sequence>
        <Timeout msec="1000000"><SubTree ID="Try" question="{=}"/></Timeout>
        <Script code="done := turn == n" _skipIf="turn == 2" _while="true" _onSuccess="n := 2"/>
      </Sequence>
    </Loop>
    <Precondition if="n &gt; 0" else="SKIPPED">
      <Use int="7" list="a;b" text="A text of more than sixty characters, which a picture has no room for." bool="{done}"/>
    </Precondition>
    <Parallel success_count="1"><AlwaysSuccess/></Parallel>
    <Switch2 variable="{turn}" case_1="1" case_2="two"><AlwaysSuccess/><AlwaysSuccess/><AlwaysSuccess/></Switch2>
    <RunOnce then_skip="false"><AlwaysSuccess/></RunOnce>
  </Sequence></BehaviorTree>
  <BehaviorTree ID="Try"><Fallback><AlwaysFailure/><Ask question="{question}" hint="h"/></Fallback></BehaviorTree></root>`

func TestPictureShowsStructureAndConstants(t *testing.T) {
	tr := load(t, someLeaves(t), pictured, Options{Given: []Port{{Name: "question"}}})
	const want = `Main
└─ → Sequence “all”
   ├─ ƒ Script ‹done := false; n := 1›
   ├─ ◇ Need text=some words
   ├─ ↻ Loop max=3 until={done} turn={turn}
   │  └─ → Sequence
   │     ├─ ⏱ Timeout msec=1000000
   │     │  └─ ▣ SubTree “Try”
   │     │     └─ ? Fallback
   │     │        ├─ ✗ AlwaysFailure
   │     │        └─ ▶ Ask limit=3 hint=h
   │     └─ ƒ Script ‹done := turn == n› skipIf‹turn == 2› while‹true›
   ├─ ⊢ Precondition ‹n > 0› else=SKIPPED
   │  └─ λ Use text=A text of more than sixty characters, which a picture has n… int=7 list=[a b]
   ├─ ⇶ Parallel success_count=1
   │  └─ ✓ AlwaysSuccess
   ├─ ⎇ Switch2 variable={turn} case_1=1 case_2=two
   │  ├─ ✓ AlwaysSuccess
   │  ├─ ✓ AlwaysSuccess
   │  └─ ✓ AlwaysSuccess
   └─ 1 RunOnce then_skip=false
      └─ ✓ AlwaysSuccess
`
	assert.Same(t, want, tr.Picture())
}

func TestPictureHasALineForEveryNodeWhateverTheTexts(t *testing.T) {
	tr := load(t, someLeaves(t),
		file("<Sequence name='a&#10;b'><Need text='one&#10;&#9;two'/><Script code='x := 1;\n y := 2'/></Sequence>"),
		Options{})
	picture := tr.Picture()
	assert.That(t, strings.Count(picture, "\n") == tr.Size()+1, "not a line for each of %d nodes:\n%s", tr.Size(), picture)
}

func TestNodesAreListedDepthFirstWithTheirPlaces(t *testing.T) {
	tr := load(t, someLeaves(t), pictured, Options{Given: []Port{{Name: "question"}}})
	var ids int32
	for n := range tr.Nodes() {
		assert.That(t, n.ID == ids && n == tr.Node(n.ID), "node %d: %+v", ids, n)
		assert.That(t, n.Parent < n.ID && (n.Parent >= 0) == (n.ID > 0), "%s: parent %d", tr.Path(n.ID), n.Parent)
		ids++
	}
	for id, want := range map[int32]string{1: "Main/Script", 6: "Main/Try", 9: "Main/Try/Ask",
		17: "Main/AlwaysSuccess"} {
		assert.Equalf(t, tr.Rule(id), want, "the rule of node %d", id)
	}
	for n := range tr.Nodes() {
		if n.ID == 1 {
			break // a listing can be left
		}
	}
	assert.That(t, int(ids) == tr.Size(), "%d nodes of %d", ids, tr.Size())
	for _, want := range []Info{
		{ID: 1, Parent: 0, Type: "Script", Glyph: "ƒ", Leaf: true, Kernel: true},
		{ID: 2, Parent: 0, Type: "Need", Name: "Need", Glyph: "◇", Leaf: true},
		{ID: 6, Parent: 5, Type: "SubTree", Name: "Try", Glyph: "▣", Kernel: true},
		{ID: 9, Parent: 7, Type: "Ask", Glyph: "▶", Leaf: true},
		{ID: 17, Parent: 15, Type: "AlwaysSuccess", Glyph: "✓", Leaf: true, Kernel: true},
	} {
		assert.Same(t, want, tr.Node(want.ID))
	}
}
