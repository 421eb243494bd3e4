package bt

import (
	"math"
	"strconv"
)

type kind uint8

const (
	kLeaf kind = iota
	kSubTree
	kSequence
	kFallback
	kReactiveSequence
	kReactiveFallback
	kSequenceWithMemory
	kAsyncSequence
	kAsyncFallback
	kParallel
	kParallelAll
	kIfThenElse
	kWhileDoElse
	kSwitch
	kTryCatch
	kInverter
	kForceSuccess
	kForceFailure
	kRepeat
	kRetry
	kKeepRunning
	kTimeout
	kDelay
	kRunOnce
	kPrecondition
	kLoop
	kAlwaysSuccess
	kAlwaysFailure
	kScript
	kScriptCondition
)

// continueOnFailure are the kinds that continue with the next child or cycle after a FAILURE of a child; all others
// continue after SUCCESS.
var continueOnFailure = []kind{kFallback, kReactiveFallback, kAsyncFallback, kRetry}

// kindsToReset are the kinds that can complete while a child is running, or that remember something while idle.
var kindsToReset = []kind{kReactiveSequence, kReactiveFallback, kParallel, kParallelAll, kWhileDoElse, kRunOnce,
	kSequenceWithMemory}

// spec describes a node of the kernel: BT.CPP's name, ports and number of children. max 0 means any number.
type spec struct {
	name     string
	kind     kind
	run      runner
	category string // as in a TreeNodesModel
	min, max int
	ports    []kernelPort
	names    []string // of the ports
	glyph    string
	ours     bool // not known to BT.CPP: described in the TreeNodesModel
	doc      string
}

// kernelPort is a port of a kernel node. want says what its literal must be. A port without a default is required,
// unless it is optional.
type kernelPort struct {
	name, def string
	want      portWant
	least     int64 // for wantInt
	optional  bool
	doc       string
}

type portWant uint8

const (
	wantText    portWant = iota // a text or a key of any type
	wantInt                     // a whole number or a key
	wantBool                    // true or false, or a key
	wantScript                  // an expression
	wantStatus                  // SUCCESS, FAILURE, SKIPPED or RUNNING
	wantOut                     // a key that the node writes an int to
	wantOutBool                 // a key that the node writes a bool to
	wantKey                     // a key that holds a bool
)

// specs lists the kernel's nodes. Runners find their ports by position.
var specs = buildSpecs()

var kindByName = indexSpecs(specs)

func buildSpecs() []spec {
	control := func(name string, k kind, r runner, glyph string, min, max int, ports ...kernelPort) spec {
		return spec{name: name, kind: k, run: r, category: "Control", glyph: glyph, min: min, max: max, ports: ports}
	}
	decorator := func(name string, k kind, r runner, glyph string, ports ...kernelPort) spec {
		return spec{name: name, kind: k, run: r, category: "Decorator", glyph: glyph, min: 1, max: 1, ports: ports}
	}
	action := func(name string, k kind, r runner, category, glyph string, ports ...kernelPort) spec {
		return spec{name: name, kind: k, run: r, category: category, glyph: glyph, min: 0, max: -1, ports: ports}
	}
	number := func(name, def string, least int64) kernelPort {
		return kernelPort{name: name, def: def, want: wantInt, least: least}
	}
	threshold := func(name, def string) kernelPort { return number(name, def, math.MinInt64) }
	all := []spec{
		control("Sequence", kSequence, (*exec).tickInOrder, "→", 1, 0),
		control("Fallback", kFallback, (*exec).tickInOrder, "?", 1, 0),
		control("ReactiveSequence", kReactiveSequence, (*exec).tickReactive, "⇉", 1, 0),
		control("ReactiveFallback", kReactiveFallback, (*exec).tickReactive, "⁇", 1, 0),
		control("SequenceWithMemory", kSequenceWithMemory, (*exec).tickInOrder, "→*", 1, 0),
		control("AsyncSequence", kAsyncSequence, (*exec).tickInOrder, "→~", 1, 0),
		control("AsyncFallback", kAsyncFallback, (*exec).tickInOrder, "?~", 1, 0),
		control("Parallel", kParallel, (*exec).parallel, "⇶", 1, 64, threshold("success_count", "-1"),
			threshold("failure_count", "1")),
		control("ParallelAll", kParallelAll, (*exec).parallelAll, "⇶", 1, 64, threshold("max_failures", "1")),
		control("IfThenElse", kIfThenElse, (*exec).ifThenElse, "⑂", 2, 3),
		control("WhileDoElse", kWhileDoElse, (*exec).whileDoElse, "⑂", 2, 3),
		control("TryCatch", kTryCatch, (*exec).tryCatch, "⚠", 2, 0),
		decorator("Inverter", kInverter, (*exec).invert, "¬"),
		decorator("ForceSuccess", kForceSuccess, (*exec).forceSuccess, "✓"),
		decorator("ForceFailure", kForceFailure, (*exec).forceFailure, "✗"),
		decorator("Repeat", kRepeat, (*exec).repeat, "↻", number("num_cycles", "", -1)),
		decorator("RetryUntilSuccessful", kRetry, (*exec).repeat, "↺", number("num_attempts", "", -1)),
		decorator("KeepRunningUntilFailure", kKeepRunning, (*exec).keepRunning, "∞"),
		decorator("Timeout", kTimeout, (*exec).timeout, "⏱", number("msec", "", 0)),
		decorator("Delay", kDelay, (*exec).delay, "⏲", number("delay_msec", "", 0)),
		decorator("RunOnce", kRunOnce, (*exec).runOnce, "1", kernelPort{name: "then_skip",
			def: "true", want: wantBool}),
		decorator("Precondition", kPrecondition, (*exec).precondition, "⊢", kernelPort{name: "if", want: wantScript},
			kernelPort{name: "else", def: "FAILURE", want: wantStatus}),
		action("AlwaysSuccess", kAlwaysSuccess, (*exec).alwaysSuccess, "Action", "✓"),
		action("AlwaysFailure", kAlwaysFailure, (*exec).alwaysFailure, "Action", "✗"),
		action("Script", kScript, (*exec).runScript, "Action", "ƒ", kernelPort{name: "code", want: wantScript}),
		action("ScriptCondition", kScriptCondition, (*exec).scriptCondition, "Condition", "ƒ",
			kernelPort{name: "code", want: wantScript}),
	}
	for n := 2; n <= 6; n++ {
		ports := []kernelPort{{name: "variable", want: wantText}}
		for c := 1; c <= n; c++ {
			ports = append(ports, kernelPort{name: "case_" + strconv.Itoa(c), want: wantText})
		}
		all = append(all, control("Switch"+strconv.Itoa(n), kSwitch, (*exec).tickSwitch, "⎇", n+1, n+1, ports...))
	}
	loop := decorator("Loop", kLoop, (*exec).loop, "↻",
		kernelPort{name: "max", want: wantInt,
			doc: "how often the child may run; FAILURE when that did not set `until`"},
		kernelPort{name: "until", want: wantKey,
			doc: "a bool key: once true after a SUCCESS of the child, the loop is SUCCESS"},
		kernelPort{name: "turn", optional: true, want: wantOut,
			doc: "written before each run of the child: 1, 2 … max"},
		kernelPort{name: "last", optional: true, want: wantOutBool, doc: "written with it: true in the last run"})
	loop.ours = true
	loop.doc = "Runs the child until a key is true, at most max times. A FAILURE of the child is FAILURE at once."
	all = append(all, loop)
	for i := range all {
		for _, p := range all[i].ports {
			all[i].names = append(all[i].names, p.name)
		}
	}
	return all
}

func indexSpecs(all []spec) map[string]*spec {
	index := make(map[string]*spec, len(all))
	for i := range all {
		index[all[i].name] = &all[i]
	}
	return index
}
