package natsrun

// handshake watches what a server says to a new client for the PONG that ends the client's handshake.
//
// A nats.go connection holds its mutex from the dial to this PONG. In a bubble a handshake that had to wait for virtual
// time would stop it for good as soon as another goroutine waits for that mutex, for which synctest does not count a
// goroutine as idle. So faults in virtual time begin behind it.
type handshake struct {
	line []byte // the beginning of the present line, as far as it can still be "PONG"
	skip bool   // the present line is something else
	over bool   // the PONG has come; what follows is not looked at
}

const handshakeEnd = "PONG\r\n"

// read takes the next bytes and reports whether the PONG was among them: true once.
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
