package protocol

import "time"

// The view of a machine, which keeps its own notes beside each peer and role: so ten thousand roles cost one object each.
type (
	View     = theView[leaseTask, roleTask]
	PeerView = thePeer[leaseTask, roleTask]
	RoleView = theRole[leaseTask, roleTask]
	News     = theNews[leaseTask, roleTask]
)

// NewView returns an empty view of a bucket with that L_max.
func NewView(maxTTL time.Duration) *View { return newView[leaseTask, roleTask](maxTTL) }
