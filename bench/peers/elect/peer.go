package elect

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Config describes a candidate.
type Config struct {
	Addr     string // of the store
	Instance string
	TTL      time.Duration
}

// Work is what a leader does: nothing, and it notes when.
type Work struct {
	Drain time.Duration // how long it takes to return once it is told to
	Tell  func(what, role string)
	// Dead tells when the session of a crashed candidate was ended, which makes its roles free: of
	// peers that know.
	Dead func(at time.Time)
}

// The events of a term.
const (
	Began    = "began"    // the work of a term begins
	Told     = "told"     // it is told to end
	Ended    = "ended"    // it has ended
	Believes = "believes" // the peer says that this instance leads
	Doubts   = "doubts"   // it says so no longer
	Dead     = "dead"     // a crashed candidate's session is ended
)

func (w Work) begin(role string) { w.Tell(Began, role) }

func (w Work) end(role string) {
	w.Tell(Told, role)
	time.Sleep(w.Drain) // what the work takes
	w.Tell(Ended, role)
}

// Candidate is one instance.
type Candidate interface {
	// Stand contends for a role, until Resign.
	Stand(ctx context.Context, role string) error
	// Resign gives the role up in the most graceful way that the peer has, and takes part no
	// longer.
	Resign(ctx context.Context, role string) error
	// Leads is what the peer says to work that asks.
	Leads(role string) bool
}

// Peer is one library.
type Peer struct {
	Name   string
	Module string // "" for this library
	Store  string
	// Settings describes the settings at a TTL, and those that follow from it by themselves.
	Settings func(ttl time.Duration) string
	// Prepare makes everything that must be there before the first candidate. It may be nil.
	Prepare func(ctx context.Context, addr string, ttl time.Duration) error
	Open    func(ctx context.Context, c Config, w Work) (Candidate, error)
	// Settled is how long after it has begun to contend an instance is surely in line.
	Settled func(ttl time.Duration) time.Duration
	// Short means that the peer takes a TTL of one second.
	Short bool
	// Guard means that a process may have a guard.
	Guard bool
	// Locks means that a candidate is the guard of the program that leads, and does nothing else.
	Locks bool
}

// Peers are all of them, this library first.
var Peers = []Peer{rolemanagerPeer, aliAssarPeer, choriaPeer, etcdPeer, clientGoPeer}

// Guarded are those that show what a guard changes.
var Guarded = append(slices.Clone(Peers), consulPeer)

// ByName finds one.
func ByName(name string) (Peer, error) {
	for _, p := range Guarded {
		if p.Name == name {
			return p, nil
		}
	}
	return Peer{}, fmt.Errorf("elect: no peer %q", name)
}

func aSecond(time.Duration) time.Duration { return time.Second }
