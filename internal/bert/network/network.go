package network

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/gomlx/gomlx/backends"
	_ "github.com/gomlx/gomlx/backends/simplego" // the backend "go"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/tensors"
	"github.com/gomlx/gomlx/pkg/ml/context"
	"github.com/gomlx/onnx-gomlx/onnx"
)

// network computes the ONNX graph.
type network struct {
	exec    *context.Exec
	inputs  []input
	width   int // logits of a row
	padding int64
	lengths []int // ascending; a row is padded to the next of them
}

type input struct {
	name string
	kind dtypes.DType
}

// row is one input of the network: the numbers of tokens, and the segment (0 text, 1 hypothesis) of each.
type row struct{ tokens, segments []int }

// lengths are the lengths to which rows are padded. They are few, as one graph is compiled and kept for each.
func lengths(most int) []int {
	var list []int
	for n := 32; n < most; n *= 2 {
		list = append(list, n)
	}
	return append(list, most)
}

// recoverError turns a panic of the libraries into an error.
func recoverError(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("%v", p)
	}
}

func loadNetwork(f *folder) (n *network, err error) {
	defer recoverError(&err)
	data, err := f.read(f.network, maxNetwork)
	if err != nil {
		return nil, err
	}
	m, err := onnx.Parse(data)
	if err != nil {
		return nil, err
	}
	n = &network{width: len(f.labels), padding: f.padding, lengths: lengths(f.maxTokens)}
	if err := n.readSignature(m); err != nil {
		return nil, err
	}
	if err := readWeights(f, m); err != nil {
		return nil, err
	}
	variables := context.New().Reuse()
	if err := m.VariablesToContext(variables); err != nil {
		return nil, err
	}
	dropCopies(m)
	backend, err := backends.NewWithConfig("go")
	if err != nil {
		return nil, err
	}
	output := m.OutputsNames[0]
	n.exec, err = context.NewExec(backend, variables, func(ctx *context.Context, in []*graph.Node) []*graph.Node {
		named := map[string]*graph.Node{}
		for i, node := range in {
			named[n.inputs[i].name] = node
		}
		return m.CallGraph(ctx, in[0].Graph(), named, output)
	})
	return n, err
}

// readSignature checks the inputs and the output of the network.
func (n *network) readSignature(m *onnx.Model) error {
	for i, name := range m.InputsNames {
		kind := m.InputsShapes[i].DType
		switch {
		case name != "input_ids" && name != "attention_mask" && name != "token_type_ids":
			return fmt.Errorf("the network asks for the input %q; only input_ids, attention_mask and token_type_ids "+
				"are known", name)
		case kind != dtypes.Int64 && kind != dtypes.Int32:
			return fmt.Errorf("the input %q is of type %s instead of a whole number", name, kind)
		}
		n.inputs = append(n.inputs, input{name, kind})
	}
	if len(n.inputs) == 0 || len(m.OutputsNames) == 0 {
		return fmt.Errorf("the network has %d inputs and %d outputs", len(n.inputs), len(m.OutputsNames))
	}
	out := m.OutputsShapes[0]
	if out.DType != dtypes.Float32 || out.Rank() != 2 || out.Dimensions[1] >= 0 && out.Dimensions[1] != n.width {
		return fmt.Errorf("the network's output %s is not one number (float32) for each of the %d labels of %s",
			out, n.width, configFile)
	}
	return nil
}

// readWeights reads the weights that are in files beside the network's.
func readWeights(f *folder, m *onnx.Model) error {
	const external = 1
	files := map[string][]byte{}
	for _, weights := range m.Proto.Graph.Initializer {
		if weights.DataLocation != external {
			continue
		}
		var name string
		var offset, length int64 = 0, -1
		for _, e := range weights.ExternalData {
			var err error
			switch e.Key {
			case "location":
				name = e.Value
			case "offset":
				_, err = fmt.Sscan(e.Value, &offset)
			case "length":
				_, err = fmt.Sscan(e.Value, &length)
			}
			if err != nil {
				return fmt.Errorf("the %s %q of the weights %q is no number", e.Key, e.Value, weights.Name)
			}
		}
		if !filepath.IsLocal(name) {
			return fmt.Errorf("the weights %q are in %q, which is not in the model's folder", weights.Name, name)
		}
		data, ok := files[name]
		if !ok {
			var err error
			if data, err = f.read(filepath.ToSlash(filepath.Join(filepath.Dir(f.network), name)),
				maxNetwork); err != nil {
				return err
			}
			files[name] = data
		}
		if length < 0 {
			length = int64(len(data)) - offset
		}
		if offset < 0 || length < 0 || length > int64(len(data))-offset {
			return fmt.Errorf("%s ends before the weights %q do", name, weights.Name)
		}
		weights.RawData = data[offset : offset+length]
	}
	return nil
}

// dropCopies releases the weights that the variables have too: half of the memory. Small ones stay, because shapes and
// axes are read from them when a graph is built.
func dropCopies(m *onnx.Model) {
	const small = 64 << 10
	for _, weights := range m.Proto.Graph.Initializer {
		if len(weights.RawData) > small {
			weights.RawData = nil
		}
	}
}

// logits computes a row.
func (n *network) logits(r row) (logits []float32, err error) {
	defer recoverError(&err)
	i, _ := slices.BinarySearch(n.lengths, len(r.tokens))
	if i == len(n.lengths) {
		return nil, fmt.Errorf("%d tokens are more than the network reads at once", len(r.tokens))
	}
	length := n.lengths[i]
	args := make([]any, 0, len(n.inputs))
	for _, in := range n.inputs {
		values := make([]int64, length)
		for j := range values {
			switch {
			case j >= len(r.tokens):
				if in.name == "input_ids" {
					values[j] = n.padding
				}
			case in.name == "input_ids":
				values[j] = int64(r.tokens[j])
			case in.name == "attention_mask":
				values[j] = 1
			default:
				values[j] = int64(r.segments[j])
			}
		}
		args = append(args, tensorOf(values, in.kind))
	}
	out, err := n.exec.Exec(args...)
	if err != nil {
		return nil, err
	}
	err = tensors.ConstFlatData(out[0], func(flat []float32) { logits = slices.Clone(flat) })
	if err == nil && len(logits) != n.width {
		err = fmt.Errorf("the network gives %d numbers for %d labels", len(logits), n.width)
	}
	for _, t := range out {
		if e := t.FinalizeAll(); err == nil {
			err = e
		}
	}
	return logits, err
}

func tensorOf(values []int64, kind dtypes.DType) *tensors.Tensor {
	if kind == dtypes.Int64 {
		return tensors.FromFlatDataAndDimensions(values, 1, len(values))
	}
	narrow := make([]int32, len(values))
	for i, v := range values {
		narrow[i] = int32(v)
	}
	return tensors.FromFlatDataAndDimensions(narrow, 1, len(narrow))
}
