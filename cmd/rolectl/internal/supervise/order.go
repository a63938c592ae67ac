//go:build linux || darwin

package supervise

import (
	"encoding/binary"
	"syscall"
	"time"

	"github.com/rolemanager/rolemanager/internal/clock"
)

// order tells the guard when to send which signal, unless another order comes first. With the first
// one it starts the command.
type order struct {
	Term, Kill clock.Instant  // of the holder's scale
	Stop       time.Duration  // between TERM and KILL when rolectl is gone
	Release    bool           // the run is over: end, and send no signal
	Pass       syscall.Signal // for the command itself, now; 0: none
}

const orderSize = 5 * 8

func (o order) encode() []byte {
	b := make([]byte, 0, orderSize)
	release := uint64(0)
	if o.Release {
		release = 1
	}
	for _, v := range []uint64{uint64(o.Term), uint64(o.Kill), uint64(o.Stop), release, uint64(o.Pass)} {
		b = binary.BigEndian.AppendUint64(b, v)
	}
	return b
}

func decodeOrder(b []byte) order {
	at := func(i int) uint64 { return binary.BigEndian.Uint64(b[8*i:]) }
	return order{clock.Instant(at(0)), clock.Instant(at(1)), time.Duration(at(2)), at(3) != 0, syscall.Signal(at(4))}
}

// report is what the guard says: two bytes.
type report [2]byte

// The first byte of a report; the second one is of no concern where nothing is said about it.
const (
	listens = 'r' // it has caught all signals, and reads orders
	started = 's' // the command runs
	failed  = 'f' // it cannot be started, for the reason errno; 0: it was too late for it
	ended   = 'e' // it has ended with this exit code, and has left nobody behind
	leaves  = 'l' // it has ended with this exit code, and others are left
)
