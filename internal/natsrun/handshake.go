package natsrun

// handshake watches the server's bytes to a new client for the PONG that ends the client's
// handshake.
//
// A nats.go connection holds its mutex from the dial to this PONG. Suppose that in a bubble a
// handshake had to wait for virtual time, and that another goroutine waited for that mutex.
// synctest does not count such a goroutine as idle, so virtual time would stop for good. Faults in
// virtual time therefore begin after the PONG.
type handshake struct {
	line []byte // the beginning of the present line, while it can still be "PONG"
	skip bool   // the present line is something else
	over bool   // the PONG has come; nothing after it is read
}

const handshakeEnd = "PONG\r\n"

// read takes the next bytes and reports whether the PONG was among them. It reports true once.
func (h *handshake) read(p []byte) bool {
	if h.over {
		return false
	}
	for _, b := range p {
		if !h.skip {
			h.line = append(h.line, b)
			if string(h.line) == handshakeEnd {
				h.over = true
				return true
			}
			h.skip = string(h.line) != handshakeEnd[:len(h.line)]
		}
		if b == '\n' {
			h.line, h.skip = h.line[:0], false
		}
	}
	return false
}
