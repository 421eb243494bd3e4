package learned

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"strings"
	"testing"
)

// fruits are examples whose class is told by one word, in four groups; every tenth is labelled wrongly.
func fruits() []Example {
	var all []Example
	for i := range 400 {
		class, sign := "sweet", "pear"
		if i%2 == 0 {
			class, sign = "sour", "lemon"
		}
		if i%10 == 9 {
			class = "sour"
		}
		all = append(all, Example{Features: Seen(sign, fmt.Sprint("noise", i%37), fmt.Sprint("alone", i)), Class: class, Group: fmt.Sprint(i % 4)})
	}
	return all
}

var taste = Options{Classes: []string{"sweet", "sour"}}

func trained(t *testing.T, examples []Example, o Options) *Model {
	t.Helper()
	m, err := Train(examples, o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestAModelLearnsWhatTellsClassesApart(t *testing.T) {
	m := trained(t, fruits(), taste)
	for sign, want := range map[string]string{"pear": "sweet", "lemon": "sour"} {
		if got, p := m.Best(Seen(sign, "never seen")); got != want || p < 0.6 {
			t.Errorf("%s: %s with %.2f, want %s", sign, got, p, want)
		}
	}
	if r := m.Reasons(Seen("noise3", "lemon", "never seen"), "sour", 1); len(r) != 1 || r[0].Name != "lemon" || r[0].Weight <= 0 {
		t.Errorf("sour because of %v", r)
	}
	if r := m.Reasons(Seen("lemon"), "sweet", 1); len(r) != 1 || r[0].Weight >= 0 {
		t.Errorf("lemon speaks for sweet: %v", r)
	}
}

func TestProbabilitiesAddUpAndAreCalibrated(t *testing.T) {
	m := trained(t, fruits(), taste)
	p := m.Probabilities(Seen("pear"))
	if math.Abs(p[0]+p[1]-1) > 1e-12 {
		t.Errorf("%v do not add up to 1", p)
	}
	if p[0] < 0.7 || p[0] > 0.9 {
		t.Errorf("pear is sweet with %.3f, though one of five is labelled otherwise", p[0])
	}
}

// TestTrainingGivesTheSameBytesOnEveryMachine holds a hash of weights: where a processor or a compiler rounds otherwise, it is another.
func TestTrainingGivesTheSameBytesOnEveryMachine(t *testing.T) {
	examples := fruits()
	for i := range examples {
		examples[i].Features[1].Value = 0.1 * float64(i%7)
	}
	sum := sha256.Sum256(trained(t, examples, taste).Bytes())
	if got, want := hex.EncodeToString(sum[:8]), "f6e89deed3cbea1e"; got != want {
		t.Errorf("weights hash to %s, not %s", got, want)
	}
}

func TestOnlyTheBucketsThatTellMostAreKept(t *testing.T) {
	few := taste
	few.Keep = 2
	m := trained(t, fruits(), few)
	if r := m.Reasons(Seen("pear", "lemon", "noise3", "noise4"), "sour", 9); len(r) != 2 || r[0].Name == "noise3" || r[1].Name == "noise4" {
		t.Errorf("kept are %v", r)
	}
	few.Keep = -1
	if _, err := Train(fruits(), few); err == nil {
		t.Error("a negative number to keep is taken")
	}
}

func TestSmoothedLabelsMakeAModelLessSure(t *testing.T) {
	alone := make([]Example, 0, 400)
	for _, e := range fruits() {
		e.Group = ""
		alone = append(alone, e)
	}
	_, sure := trained(t, alone, taste).Best(Seen("lemon"))
	smooth := taste
	smooth.Smooth = 0.3
	if class, p := trained(t, alone, smooth).Best(Seen("lemon")); class != "sour" || p >= sure {
		t.Errorf("it is %s with %.2f, and without smoothing with %.2f", class, p, sure)
	}
	smooth.Smooth = 1
	if _, err := Train(alone, smooth); err == nil {
		t.Error("examples that say nothing are taken")
	}
}

func TestFeaturesOfTooFewExamplesAreLeftOut(t *testing.T) {
	m := trained(t, fruits(), taste)
	if r := m.Reasons(Seen("alone7"), "sweet", 1); len(r) != 0 {
		t.Errorf("a feature of one example has weights: %v", r)
	}
}

func TestClassWeightsMoveTheBalance(t *testing.T) {
	examples := []Example{{Seen("x"), "sweet", 0, "a"}, {Seen("x"), "sour", 0, "a"}}
	o := taste
	o.Weights = map[string]float64{"sour": 5}
	if p := trained(t, examples, o).Probabilities(Seen("x")); p[1] <= 0.6 {
		t.Errorf("sour counts five times, and has %.2f", p[1])
	}
}

func TestHeldOutJudgesNoExampleByItsOwnGroup(t *testing.T) {
	examples := fruits()
	for i := range examples {
		examples[i].Features = append(examples[i].Features, Feature{"group " + examples[i].Group + examples[i].Class, 1})
	}
	p, err := HeldOut(examples, taste)
	if err != nil {
		t.Fatal(err)
	}
	sure := 0
	for i, e := range examples {
		if p[i][slices.Index(taste.Classes, e.Class)] > 0.9 {
			sure++
		}
	}
	if sure > 200 { // lemons alone can be told for sure; what the group gives away would make it all 400
		t.Errorf("%d of %d are sure, though their groups were held out", sure, len(examples))
	}
	if _, err := HeldOut(examples[:1], taste); err == nil {
		t.Error("one group was held out of itself")
	}
}

func TestAFileGivesTheSameProbabilities(t *testing.T) {
	m := trained(t, fruits(), taste)
	again, err := Load(m.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	features := []Feature{{"pear", 0.5}, {"noise3", 2}}
	if a, b := m.Probabilities(features), again.Probabilities(features); !slices.Equal(a, b) {
		t.Errorf("%v, and after loading %v", a, b)
	}
	if !bytes.Equal(again.Bytes(), m.Bytes()) || again.Trained() != Fingerprint(fruits()) || again.Class("sour") != 1 {
		t.Error("what was loaded is not what was written")
	}
}

func TestFingerprintTellsSetsApart(t *testing.T) {
	for what, change := range map[string]func(e *Example){
		"name": func(e *Example) { e.Features[0].Name += "x" }, "value": func(e *Example) { e.Features[0].Value++ },
		"class": func(e *Example) { e.Class = "sour" }, "group": func(e *Example) { e.Group = "z" }, "weight": func(e *Example) { e.Weight = 3 },
	} {
		examples := fruits()
		change(&examples[1])
		if Fingerprint(examples) == Fingerprint(fruits()) {
			t.Errorf("another %s is not seen", what)
		}
	}
}

func TestLoadRefusesWhatIsNoFileOfWeights(t *testing.T) {
	good := trained(t, fruits(), Options{Classes: taste.Classes, Size: 6}).Bytes()
	sealed := func(b []byte) []byte { return little.AppendUint32(b[:len(b)-4], crc32.ChecksumIEEE(b[:len(b)-4])) }
	for i := range good {
		for _, change := range []byte{1, 0x7f, 0xff} {
			bad := slices.Clone(good)
			bad[i] ^= change
			if _, err := Load(bad); err == nil {
				t.Fatalf("byte %d was changed, and nothing was said", i)
			}
			// With a right checksum it may be another good file. It must only do no harm.
			if m, err := Load(sealed(bad)); err == nil {
				m.Probabilities(Seen("pear", "lemon"))
			}
		}
		if _, err := Load(good[:i]); err == nil {
			t.Fatalf("the first %d bytes alone were taken", i)
		}
		if i > 12 {
			if _, err := Load(sealed(slices.Clone(good[:i]))); err == nil {
				t.Fatalf("the first %d bytes alone, sealed, were taken", i)
			}
		}
	}
}

func TestTrainSaysWhatIsWrong(t *testing.T) {
	one := []Example{{Seen("x"), "sweet", 0, ""}}
	for want, do := range map[string]func() error{
		"no example":        func() error { _, err := Train(nil, taste); return err },
		"classes":           func() error { _, err := Train(one, Options{Classes: []string{"sweet"}}); return err },
		"must be different": func() error { _, err := Train(one, Options{Classes: []string{"sweet", "sweet"}}); return err },
		"size":              func() error { _, err := Train(one, Options{Classes: taste.Classes, Size: 99}); return err },
		"temperature":       func() error { _, err := Train(one, Options{Classes: taste.Classes, Temperature: -1}); return err },
		"none of":           func() error { _, err := Train([]Example{{Class: "blue"}}, taste); return err },
		"no number": func() error {
			_, err := Train([]Example{{Features: []Feature{{"x", math.NaN()}}, Class: "sour"}}, taste)
			return err
		},
	} {
		if err := do(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
}

func TestExpIsThatOfMathematics(t *testing.T) {
	for x := -50.0; x <= 0; x += 0.37 {
		if got, want := exp(x), math.Exp(x); math.Abs(got-want) > 1e-14*want {
			t.Errorf("exp(%g) = %g, want %g", x, got, want)
		}
	}
	if exp(-1e300) != 0 || exp(math.Inf(-1)) != 0 || exp(0) != 1 {
		t.Error("exp at its ends")
	}
}

func TestATemperatureThatIsGivenMakesProbabilitiesSurerOrLessSure(t *testing.T) {
	alone := fruits()
	for i := range alone {
		alone[i].Group = ""
	}
	surest := 1.0
	for _, temperature := range []float64{0.5, 0, 2} { // 0 is 1
		o := taste
		o.Temperature = temperature
		class, p := trained(t, alone, o).Best(Seen("lemon"))
		if class != "sour" || p >= surest {
			t.Errorf("%g: %s with %.3f, where %.3f came of a lower one", temperature, class, p, surest)
		}
		surest = p
	}
}
