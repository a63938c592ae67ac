package scheduler

// peers are the workers that the rules know, by session.
type peers map[uint64]peer

// peer is how the session of a worker is found in the bucket.
type peer struct {
	instance   string
	workerOnly bool
}

// keep drops all peers but those of the given sessions.
func (p peers) keep(sessions []uint64) {
	kept := make(map[uint64]bool, len(sessions))
	for _, s := range sessions {
		kept[s] = true
	}
	for s := range p {
		if !kept[s] {
			delete(p, s)
		}
	}
}
