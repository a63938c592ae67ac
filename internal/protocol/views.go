package protocol

import (
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/view"
)

// The view of a machine, which keeps its own notes beside each peer and role: so ten thousand roles
// cost one object each.
type (
	View     = view.View[peerNotes, roleNotes]
	PeerView = view.Peer[peerNotes, roleNotes]
	RoleView = view.Role[peerNotes, roleNotes]
	News     = view.News[peerNotes, roleNotes]
)

// NewView returns an empty view of a bucket with that L_max.
func NewView(maxTTL time.Duration) *View { return view.New[peerNotes, roleNotes](maxTTL) }
