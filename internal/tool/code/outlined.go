package code

// encodeOutline writes the definitions of a file down, as a note for the index.
func encodeOutline(defs []definition) []byte {
	var out packer
	names := map[string]int{} // texts that were written, by their number
	text := func(s string) {
		n, written := names[s]
		if !written {
			n = len(names)
			names[s] = n
		}
		out.number(uint64(n))
		if !written {
			out.text(s)
		}
	}
	out.number(uint64(len(defs)))
	for i := range defs {
		d := &defs[i]
		text(d.kind)
		text(d.container)
		text(d.name)
		out.number(uint64(d.doc)<<1 | bit(d.member))
		out.number(uint64(d.line - d.doc))
		out.number(uint64(d.end - d.doc))
	}
	return out
}

// decodeOutline reads what encodeOutline wrote. It is never nil where it is ok.
func decodeOutline(note []byte) (defs []definition, ok bool) {
	in := unpacker{rest: string(note)}
	var names []string
	text := func() string {
		n := in.number()
		if n == uint64(len(names)) {
			names = append(names, in.text())
		}
		if n >= uint64(len(names)) {
			in.bad = true
			return ""
		}
		return names[n]
	}
	defs = make([]definition, in.count())
	for i := range defs {
		d := definition{kind: text(), container: text(), name: text()}
		first := in.number()
		d.doc, d.member = int(first>>1), first&1 == 1
		d.line, d.end = d.doc+int(in.number()), d.doc+int(in.number())
		defs[i] = d
	}
	return defs, !in.bad && in.rest == ""
}
