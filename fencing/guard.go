package fencing

import (
	"cmp"
	"sync"
	"sync/atomic"
)

// Guard protects a resource: it refuses the tokens of ended terms. Use one Guard per protected
// resource and role.
//
// A Guard admits a token exactly if it is not older than the largest token it has admitted. The
// zero value is ready for use. It admits any first token, and is then bound to that token's role. A
// Guard must not be copied after its first use; all methods may be called concurrently.
//
// A Guard keeps its state in memory only. After a restart of the resource, make the Guard with
// [NewGuard] from a token that the resource has stored; the epoch beside the data is enough.
// Otherwise the first token is admitted, however old it is.
type Guard struct {
	// high is the largest token admitted. It is raised only under change, and never decreases.
	high atomic.Pointer[Token]
	// change is locked for writing to raise high, and for reading while an action runs.
	change sync.RWMutex
}

// NewGuard makes a guard that refuses every token older than floor. A floor with only an epoch is
// enough: the first token of that epoch or a later one then sets role and holder. NewGuard of the
// zero token equals new(Guard).
func NewGuard(floor Token) *Guard {
	g := new(Guard)
	if !floor.IsZero() {
		g.high.Store(&floor)
	}
	return g
}

// High returns the largest token admitted so far, or the floor; the zero token if there is none.
func (g *Guard) High() Token {
	if h := g.high.Load(); h != nil {
		return *h
	}
	return Token{}
}

// Admit returns nil if t is not older than the largest token admitted, and makes t the largest.
// From then on every older token is refused.
//
// Errors: *[StaleError] for an older token, *[ConflictError] for the same epoch and seq by another
// holder or with another id, *[RoleError] for the token of another role, [ErrNoToken] for the zero
// token.
//
// For the token already admitted, Admit takes no lock and allocates nothing. The first Admit of a
// newer token waits for the actions that run under [Guard.Do], and delays new actions meanwhile.
//
// Admit says only that no newer token was admitted before. A newer token may be admitted right
// after. If the check and the act must be one step, use [Guard.Do].
func (g *Guard) Admit(t Token) error {
	if h := g.high.Load(); h != nil && h.Equal(t) && t.presentable() {
		return nil
	}
	if raise, err := g.judge(t); err != nil || !raise {
		return err
	}
	g.change.Lock()
	defer g.change.Unlock()
	raise, err := g.judge(t)
	if err == nil && raise {
		g.raise(t)
	}
	return err
}

// Do admits t and calls act as one step: no newer token is admitted before act has returned. If t
// is refused, Do returns the error of [Guard.Admit] without calling act. Otherwise it returns the
// error of act.
//
// Actions under the same token run side by side. An action that hangs holds up the next leader, so
// give it a bound. act must not call Do of the same guard, or Admit with a newer token: both would
// wait for act itself.
func (g *Guard) Do(t Token, act func() error) error {
	if err := g.Admit(t); err != nil {
		return err
	}
	g.change.RLock()
	defer g.change.RUnlock()
	// A newer token may have been admitted since. From here on no newer token can be admitted.
	if _, err := g.judge(t); err != nil {
		return err
	}
	return act()
}

// judge says whether t is refused, and if not, whether admitting it changes what the guard knows.
func (g *Guard) judge(t Token) (raise bool, err error) {
	if !t.presentable() {
		return false, ErrNoToken
	}
	h := g.high.Load()
	if h == nil {
		return true, nil
	}
	if h.Role != t.Role && h.Role != "" {
		return false, &RoleError{Want: h.Role, Token: t}
	}
	switch c := t.Compare(*h); {
	case c < 0:
		return false, &StaleError{Token: t, High: *h}
	case c > 0:
		return true, nil
	case t.conflicts(*h):
		return false, &ConflictError{Token: t, High: *h}
	default:
		// The same term. If this token has more parts than the stored token, raise keeps them.
		known := h.Role != "" && (h.Holder != "" || t.Holder == "") && (h.id != nil || t.id == nil)
		return !known, nil
	}
}

// raise makes t the largest token. A floor may have been restored from an epoch alone. The first
// complete token of that epoch adds the other parts, and an incomplete token removes none.
func (g *Guard) raise(t Token) {
	if h := g.high.Load(); h != nil && t.Compare(*h) == 0 {
		t.Holder = cmp.Or(t.Holder, h.Holder)
		t.id = cmp.Or(t.id, h.id)
	}
	g.high.Store(&t)
}
