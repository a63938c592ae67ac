package frame

import "github.com/rolemanager/rolemanager/internal/protocol/tasks"

// Addressee is what a worker holds the frames of schedulers against: who it is, and who leads in
// its view.
type Addressee struct {
	Namespace, Role, Instance string
	Session                   uint64

	Epoch   uint64 // of the leader in view, 0: nobody leads
	Highest uint64 // revision of the role's record that was ever in view; never decreases
	Open    bool   // its own record was in view: the role's is not older than that
}

// Later says that the epoch of a frame is above every one that was in view. It is not an answer:
// the frame waits for the view, or is dropped.
const Later = tasks.Verdict(255)

// Judge says whether a frame comes from the scheduler in view, and is for this worker: the first
// reason against it counts. The epoch that it names is compared with the view alone, so that no
// frame makes the worker believe in an epoch; proven is asked only of one from the epoch in view,
// since a signature costs.
func (a *Addressee) Judge(v *Envelope, proven func() bool) tasks.Verdict {
	switch {
	case v.Epoch > a.Highest:
		return Later
	case a.Epoch == 0 || v.Epoch != a.Epoch || v.Term > v.Epoch:
		return tasks.StaleEpoch
	case !proven():
		return tasks.Forged
	case v.Namespace != a.Namespace || v.Role != a.Role || v.Instance != a.Instance || v.Session != a.Session:
		return tasks.Foreign
	case !a.Open:
		return tasks.NotReady
	}
	return tasks.Accepted
}
