package guardlink

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/rolemanager/rolemanager/internal/protocol/ending"
)

// Env names the file descriptor of the line in the environment of a guarded process.
const Env = "ROLES_GUARD_FD"

// SocketEnv names the socket of a guard that has not started the process, in its environment.
const SocketEnv = "ROLES_GUARD_SOCKET"

// MaxMessage is the largest packet, in bytes.
const MaxMessage = 8 << 10

const version = 1

// ErrMessage means that a packet is not a message of this version.
var ErrMessage = errors.New("not a message of a guarded process")

// Message is one packet: a word about a lease, and where that lease is.
type Message struct {
	V int `json:"v"`
	Place
	Word ending.Word `json:"word"`
}

// Place is the bucket of a lease.
type Place struct {
	Bucket string `json:"bucket"`
	ID     string `json:"id,omitempty"` // its identity
	Domain string `json:"domain,omitempty"`
	Prefix string `json:"prefix,omitempty"` // of the JetStream API
}

// Encode returns the packet of a message.
func (m Message) Encode() ([]byte, error) {
	m.V = version
	b, err := json.Marshal(m)
	if err == nil && len(b) > MaxMessage {
		err = fmt.Errorf("%w: %d bytes", ErrMessage, len(b))
	}
	return b, err
}

// Decode reads a packet.
func Decode(b []byte) (m Message, err error) {
	if err := json.Unmarshal(b, &m); err != nil {
		return Message{}, fmt.Errorf("%w: %w", ErrMessage, err)
	}
	if m.V != version || m.Bucket == "" || m.Word.Key == "" {
		return Message{}, ErrMessage
	}
	return m, nil
}
