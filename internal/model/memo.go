package model

import (
	"slices"
	"sync/atomic"
)

// Memo keeps the form in which an adapter has encoded a message, so that a conversation is not encoded anew in each of its
// turns. It costs about the memory of the message again. The zero Memo is empty. It is safe for concurrent use.
type Memo struct{ last atomic.Pointer[encoded] }

// encoded is a message in the form of one protocol.
type encoded struct {
	protocol string
	of       Message
	form     []byte
}

// Equal is always true: a memo says nothing that its message does not say.
func (m *Memo) Equal(*Memo) bool { return true }

// AppendEncoded appends the message in the form of a protocol, which encode appends where the message has no Memo, or one of
// another protocol or of a message that has changed since.
func (m *Message) AppendEncoded(b []byte, protocol string, encode func(b []byte, m *Message) []byte) []byte {
	if m.Memo == nil {
		return encode(b, m)
	}
	if last := m.Memo.last.Load(); last != nil && last.protocol == protocol && last.of.same(m) {
		return append(b, last.form...)
	}
	from := len(b)
	b = encode(b, m)
	kept := &encoded{protocol: protocol, of: *m, form: slices.Clone(b[from:])}
	kept.of.Memo = nil
	kept.of.ToolCalls = slices.Clone(m.ToolCalls)
	m.Memo.last.Store(kept)
	return b
}

// same says whether two messages say the same. It costs little for copies of one, whose texts are in the same place.
func (m *Message) same(o *Message) bool {
	return m.Role == o.Role && m.Text == o.Text && slices.Equal(m.ToolCalls, o.ToolCalls) &&
		m.ToolCallID == o.ToolCallID && m.ToolName == o.ToolName && m.IsError == o.IsError && m.Native == o.Native
}
