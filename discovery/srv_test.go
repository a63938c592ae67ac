package discovery

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"strings"
	"sync"
	"testing"
	"time"
)

// dns is a small name server on loopback, which speaks the wire format of RFC 1035 and RFC 2782.
type dns struct {
	conn net.PacketConn
	done chan struct{}

	mu      sync.Mutex
	targets map[string]uint16 // port by host
	code    byte              // of the answer
	silent  bool
}

func serveDNS(t *testing.T) *dns {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d := &dns{conn: conn, done: make(chan struct{})}
	go func() {
		defer close(d.done)
		buf := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			if answer := d.answer(buf[:n]); answer != nil {
				_, _ = conn.WriteTo(answer, from) // the resolver asks again
			}
		}
	}()
	t.Cleanup(func() {
		_ = conn.Close()
		<-d.done
	})
	return d
}

// set changes what is answered.
func (d *dns) set(change func(*dns)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change(d)
}

// answer is that to one question: header, the question again, and the records.
func (d *dns) answer(question []byte) []byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	end := 12
	for end < len(question) && question[end] != 0 {
		end += int(question[end]) + 1
	}
	end += 5 // the root, type and class
	if d.silent || len(question) < end {
		return nil
	}
	out := append([]byte(nil), question[:end]...)
	out[2], out[3] = 0x84, d.code // an authoritative answer
	binary.BigEndian.PutUint16(out[6:], uint16(len(d.targets)))
	clear(out[8:12])
	for host, port := range d.targets {
		out = append(out, 0xc0, 12, 0, 33, 0, 1, 0, 0, 0, 1) // the name, SRV, IN, one second
		data := binary.BigEndian.AppendUint16([]byte{0, 1, 0, 1}, port)
		for label := range strings.SplitSeq(host, ".") {
			data = append(append(data, byte(len(label))), label...)
		}
		data = append(data, 0)
		out = append(binary.BigEndian.AppendUint16(out, uint16(len(data))), data...)
	}
	return out
}

// resolver asks this server.
func (d *dns) resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", d.conn.LocalAddr().String())
	}}
}

func TestSRV(t *testing.T) {
	server := serveDNS(t)
	server.set(func(d *dns) { d.targets = map[string]uint16{"b.example.org": 4223, "a.example.org": 4222} })
	source := SRV{Name: "_nats._tcp.example.org", Every: 10 * time.Millisecond, Resolver: server.resolver()}
	list := look(t, source, nil)
	expects(t, list, Server{"nats://a.example.org:4222", ""}, Server{"nats://b.example.org:4223", ""})

	changed := waits(t, source, list)
	server.set(func(d *dns) { d.targets = map[string]uint16{"c.example.org": 1} })
	expects(t, changed.result(t), Server{"nats://c.example.org:1", ""})

	source.Scheme = "tls"
	expects(t, look(t, source, list), Server{"tls://c.example.org:1", ""})

	server.set(func(d *dns) { d.targets = nil })
	for _, code := range []byte{0, 2, 3} { // none, a failure of the server, no such name
		server.set(func(d *dns) { d.code = code })
		if _, err := source.Next(bound(t), list); !errors.As(err, new(*LookupError)) {
			t.Errorf("code %d: %v", code, err)
		}
	}
	server.set(func(d *dns) { d.silent = true })
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := source.Next(ctx, list); err == nil {
		t.Error("a server that says nothing has changed the list")
	}
}
