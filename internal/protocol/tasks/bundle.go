package tasks

import "github.com/rolemanager/rolemanager/internal/protocol/tasks/bundles"

type (
	// Bundled is a bundle that the stream delivered: several submissions in one record, with the
	// indexes of its members in their block of ids, ascending. A Submitted for each of them follows,
	// at the same Revision.
	Bundled struct {
		Name     string
		Revision uint64
		Indexes  []uint16
	}

	// MembersEnded is the record beside a bundle that the stream delivered: those of its members
	// that have ended. Of is the revision of the bundle.
	MembersEnded struct {
		Name  string
		Of    uint64
		Ended bundles.Set
	}

	// EndsUnknown says that nothing is known of a batch with outcomes of members of bundles. No other
	// one with such outcomes goes under the same seal: what goes along with it would lack what the lost
	// one says.
	EndsUnknown struct{}

	// BundleGone says that a bundle was removed: all of its members have ended.
	BundleGone struct {
		Name     string
		Revision uint64
	}
)

func (e Bundled) apply(s *Scheduler) { s.bundles.Stands(e.Name, e.Revision, e.Indexes) }

func (e MembersEnded) apply(s *Scheduler) {
	for _, id := range s.bundles.Told(e.Name, e.Of, e.Ended) {
		s.memberEnded(id, e.Of)
	}
}

func (e BundleGone) apply(s *Scheduler) {
	of, ids := s.bundles.Gone(e.Name, e.Revision)
	for _, id := range ids {
		s.memberEnded(id, of)
	}
}

func (EndsUnknown) apply(s *Scheduler) { s.renew() }

// memberEnded takes note that a member of a bundle has ended. Its outcome may have left.
func (s *Scheduler) memberEnded(id string, of uint64) {
	if revision, open := s.stands(id); open && revision == of {
		Settled{ID: id, Revision: of}.apply(s)
	}
}

// member says of which bundle the submission of a task is.
func (s *Scheduler) member(t *task) (bundles.Member, bool) { return s.bundles.Of(t.id(), t.revision) }

// InBundle reports whether the submission of a task at a revision is in a bundle that stands.
func (s *Scheduler) InBundle(id string, revision uint64) bool {
	_, within := s.bundles.Of(id, revision)
	return within
}

// Bundles is what is to be stored in one step with the outcomes of these members.
func (s *Scheduler) Bundles(of []bundles.Member) []bundles.Record { return s.bundles.With(of) }
