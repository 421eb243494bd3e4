package rules

import "encoding/binary"

// forest is a sum of small trees, one after the other in preorder: the left branch of a node is the next one.
type forest struct {
	base  float64
	roots []int
	nodes []node
}

type node struct {
	feature int // a leaf has none: -1
	value   float64
	right   int // how many nodes further the right branch begins
}

// score adds up the leaves that evidence comes to. A number that is not above the value of a node goes left.
func (f *forest) score(e []float64) float64 {
	sum := f.base
	for _, i := range f.roots {
		n := &f.nodes[i]
		for n.feature >= 0 {
			if e[n.feature] <= n.value {
				i++
			} else {
				i += n.right
			}
			n = &f.nodes[i]
		}
		sum += n.value
	}
	return sum
}

// leaf stands for no feature in a file.
const leaf = 0xffff

func (f *forest) append(out []byte) []byte {
	out = appendFloat(out, f.base)
	out = binary.LittleEndian.AppendUint16(out, uint16(len(f.roots)))
	for at, root := range f.roots {
		end := len(f.nodes)
		if at+1 < len(f.roots) {
			end = f.roots[at+1]
		}
		out = append(out, byte(end-root))
		for _, n := range f.nodes[root:end] {
			out = binary.LittleEndian.AppendUint16(out, uint16(n.feature)) // -1 becomes leaf
			out = append(appendFloat(out, n.value), byte(n.right))
		}
	}
	return out
}

// forest reads one over so many features. Branches lead forward within their tree, so that every walk ends.
func (r *reader) forest(features int) forest {
	f := forest{base: r.float()}
	for range r.uint16() {
		size := 0
		if b := r.take(1); b != nil {
			size = int(b[0])
		}
		f.roots = append(f.roots, len(f.nodes))
		for at := range size {
			n := node{feature: int(r.uint16()), value: r.float()}
			if b := r.take(1); b != nil {
				n.right = int(b[0])
			}
			switch {
			case n.feature == leaf:
				n.feature = -1
			case n.feature >= features || n.right < 2 || at+n.right >= size:
				r.failed = true
			}
			f.nodes = append(f.nodes, n)
		}
		if r.failed || size == 0 || f.nodes[len(f.nodes)-1].feature >= 0 {
			r.failed = true
			return f
		}
	}
	return f
}
