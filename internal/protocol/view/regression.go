package view

import (
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// BackPatience is how much later a watch over replicas must have begun than one that has shown too
// old a state, to prove that this is not a lag: longer than a stream leader that has lost its
// quorum continues to answer (up to twenty seconds), and than a replica lags that lives. A doubt
// that could not be settled waits as long again.
const BackPatience = 30 * time.Second

// doubt is what a watch over replicas leaves that has shown an older state than was known: the
// store has lost something, or the replica lags.
type doubt struct {
	since record.Instant // when that watch was begun to be made
	known uint64         // the highest revision that was known then; 0: there is no doubt
	again record.Instant // not before is another watch asked for: the last one that was begun late enough could not tell
}

// due is from when on a watch must have begun to turn the doubt into proof.
func (d doubt) due() record.Instant { return d.since.Add(BackPatience) }

// noteOlder takes in that what the present watch shows is older than revision known, though that
// was known before the watch was made. Then the store has lost it: it was restored from a backup,
// or the ends of its files were torn off. A view that never goes back would name revisions of a
// past that is gone, and every write be refused.
//
// A single server cannot lag, so there this is proof at once. A replica may. There it is proof if
// another watch had shown the same, begun BackPatience earlier: what was known already at that time
// is not there yet. For that it must be certain: the word of the store's leader, or be delivered
// while by that word all replicas are up to date. One that is cut off lags for as long as it is, so
// by itself it only raises a doubt.
func (v *View[P, R]) noteOlder(known uint64, certain bool) {
	switch {
	case v.single:
		v.regressed = true
		return
	case v.begun == 0: // nobody says when, so no lag can be measured
		return
	}
	if v.doubt.known == 0 {
		v.doubt = doubt{since: v.begun, known: v.known}
	}
	if !certain {
		return
	}
	v.lags = true
	if known <= v.doubt.known {
		v.doubted = true
		v.regressed = v.regressed || v.begun >= v.doubt.due()
	}
}

// differs reports whether e stands at the revision of what is known of its key and is something
// else. No lag does that: the revision was given again. Our own records are known as they were
// sent, so of two records only what says whose they are counts.
func (v *View[P, R]) differs(e *record.Entry) bool {
	switch e.Kind {
	case record.KindLease:
		p := v.peer(e.Peer)
		was, is := &p.Lease, &e.Lease
		return changed(p.Form, e.Form, was.Nonce != is.Nonce || was.State != is.State || was.Session != is.Session)
	case record.KindMember:
		p := v.peer(e.Peer)
		return changed(p.MemberForm, e.Form, p.Member != nil && e.Member != nil && p.Member.Session != e.Member.Session)
	case record.KindRole:
		r := v.Mention(e.Name)
		was, is := &r.Role, &e.Role
		return changed(r.Form, e.Form, was.Holder() != is.Holder() || was.Session != is.Session || was.Token != is.Token)
	}
	return false
}

// changed reports whether what was known of a key has become something else: in form, or as a
// record. A missing record has not.
func changed(was, is record.Form, rec bool) bool {
	switch was {
	case record.FormNone, record.FormMissing:
		return false
	case record.FormRecord:
		return is != record.FormRecord || rec
	}
	return was != is
}

// settleDoubt ends the doubt when a whole snapshot has shown nothing of it that could have. One
// that lacks only what was learnt since leaves a doubt of its own.
func (v *View[P, R]) settleDoubt() {
	v.asked = false
	switch {
	case v.doubted:
	case v.lags:
		v.doubt = doubt{since: v.begun, known: v.known}
	case v.blind:
	default:
		v.doubt = doubt{}
	}
}

// Regressed reports whether the store has lost what was known of it: nothing in the view can be
// relied on any more.
func (v *View[P, R]) Regressed() bool { return v.regressed }

// AskAt is from when on AskAgain wants to be asked, on the observer's scale; at the end of time if
// for nothing.
func (v *View[P, R]) AskAt() record.Instant {
	if v.doubt.known == 0 || v.asked || v.begun >= v.doubt.due() && !v.blind {
		return Never
	}
	return max(v.doubt.due(), v.doubt.again)
}

// AskAgain reports whether the owner of the view is to make a new watch now, so that a doubt ends
// or becomes proof. Once it has said so it does not before another whole snapshot has arrived, and
// then only if that was begun too early to tell.
func (v *View[P, R]) AskAgain(now record.Instant) bool {
	if now < v.AskAt() {
		return false
	}
	v.asked = true
	return true
}
