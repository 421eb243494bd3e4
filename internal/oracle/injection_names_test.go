package oracle_test

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/netip"
	"strings"

	"golang.org/x/net/dns/dnsmessage"
)

// namesOnly resolves these names to these addresses, and no others. It asks nobody.
func namesOnly(table map[string]string) *net.Resolver {
	return namesBy(func(name string) (string, bool) { address, known := table[name]; return address, known })
}

// namesBy resolves the names that look knows. It asks nobody.
func namesBy(look func(name string) (address string, known bool)) *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go answerNames(server, look)
		return client, nil
	}}
}

// answerNames answers one connection in the framing of DNS over TCP (RFC 1035, 4.2.2).
func answerNames(conn net.Conn, look func(string) (string, bool)) {
	defer func() { _ = conn.Close() }()
	for {
		var size uint16
		if binary.Read(conn, binary.BigEndian, &size) != nil {
			return
		}
		packet := make([]byte, size)
		if _, err := io.ReadFull(conn, packet); err != nil {
			return
		}
		var msg dnsmessage.Message
		if msg.Unpack(packet) != nil || len(msg.Questions) != 1 {
			return
		}
		resolveName(&msg, look)
		reply, err := msg.AppendPack([]byte{0, 0})
		if err != nil {
			return
		}
		binary.BigEndian.PutUint16(reply, uint16(len(reply)-2))
		if _, err := conn.Write(reply); err != nil {
			return
		}
	}
}

// resolveName turns a query into its answer.
func resolveName(msg *dnsmessage.Message, look func(string) (string, bool)) {
	q := msg.Questions[0]
	msg.Response, msg.Additionals = true, nil
	address, known := look(strings.TrimSuffix(q.Name.String(), "."))
	if !known {
		msg.RCode = dnsmessage.RCodeNameError
		return
	}
	ip := netip.MustParseAddr(address)
	header := dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class}
	switch {
	case q.Type == dnsmessage.TypeA && ip.Is4():
		msg.Answers = []dnsmessage.Resource{{Header: header, Body: &dnsmessage.AResource{A: ip.As4()}}}
	case q.Type == dnsmessage.TypeAAAA && ip.Is6():
		msg.Answers = []dnsmessage.Resource{{Header: header, Body: &dnsmessage.AAAAResource{AAAA: ip.As16()}}}
	}
}
