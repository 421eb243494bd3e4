package berttest

import (
	"encoding/binary"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// The numbers of the fields and enumerations are those of onnx.proto3 of the ONNX specification.
const (
	floatType = 1
	int64Type = 7
)

// graph writes an ONNX graph, node by node; a node has one output, called like the node.
type graph struct{ body []byte }

func message(field protowire.Number, body []byte, to []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(to, field, protowire.BytesType), body)
}

func text(field protowire.Number, s string, to []byte) []byte { return message(field, []byte(s), to) }

func number(field protowire.Number, n uint64, to []byte) []byte {
	return protowire.AppendVarint(protowire.AppendTag(to, field, protowire.VarintType), n)
}

func (g *graph) node(op, name string, attribute []byte, inputs ...string) {
	var b []byte
	for _, in := range inputs {
		b = text(1, in, b)
	}
	b = text(4, op, text(3, name, text(2, name, b)))
	if attribute != nil {
		b = message(5, attribute, b)
	}
	g.body = message(1, b, g.body)
}

// to is the attribute of Cast that names the type to convert to.
func to(dataType uint64) []byte {
	const isInt = 2
	return number(20, isInt, number(3, dataType, text(1, "to", nil)))
}

func (g *graph) constant(name string, dataType uint64, raw []byte, dims ...int) {
	var b []byte
	for _, d := range dims {
		b = number(1, uint64(d), b)
	}
	g.body = message(5, message(9, raw, text(8, name, number(2, dataType, b))), g.body)
}

func (g *graph) floats(name string, values []float32, dims ...int) {
	raw := make([]byte, 0, 4*len(values))
	for _, v := range values {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v))
	}
	g.constant(name, floatType, raw, dims...)
}

func (g *graph) ints(name string, values ...uint64) {
	raw := make([]byte, 0, 8*len(values))
	for _, v := range values {
		raw = binary.LittleEndian.AppendUint64(raw, v)
	}
	g.constant(name, int64Type, raw, len(values))
}

// value declares an input or output; a dimension is a number, or a name for one that varies.
func value(name string, dataType uint64, dims ...any) []byte {
	var shape []byte
	for _, d := range dims {
		if n, ok := d.(int); ok {
			shape = message(1, number(1, uint64(n), nil), shape)
		} else {
			shape = message(1, text(2, d.(string), nil), shape)
		}
	}
	tensor := message(2, shape, number(1, dataType, nil))
	return message(2, message(1, tensor, nil), text(1, name, nil))
}

func (g *graph) inputs(names ...string) {
	for _, name := range names {
		g.body = message(11, value(name, int64Type, "batch", "sequence"), g.body)
	}
}

func (g *graph) output(name string, width int) {
	g.body = message(12, value(name, floatType, "batch", width), g.body)
}

// model closes the graph and returns the file's bytes.
func (g *graph) model() []byte {
	const irVersion, operatorSet = 8, 14
	b := number(1, irVersion, nil)
	b = message(7, text(2, "berttest", g.body), b)
	return message(8, number(2, operatorSet, text(1, "", nil)), b)
}
