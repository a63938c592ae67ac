package fencing

import (
	"cmp"
	"sync"
	"sync/atomic"
)

// Guard stands before a resource and refuses the tokens of ended terms. Use one per protected resource and role.
//
// It admits a token exactly if it is not older than the largest one it has admitted. The zero value is ready, admits
// any first token, and is bound to that token's role from then on. A Guard must not be copied after its first use; all
// methods may be called concurrently.
//
// A guard remembers in memory only. After a restart of the resource, make it with [NewGuard] from what the resource
// has stored (the epoch beside the data is enough), else the first token is admitted however old it is.
type Guard struct {
	// high is the largest token admitted. It is raised only under change, and never goes back.
	high atomic.Pointer[Token]
	// change is held for writing to raise high, and for reading while an action runs.
	change sync.RWMutex
}

// NewGuard makes a guard that refuses whatever is older than floor. A floor of an epoch alone will do: the first token
// of that epoch or a later one then tells role and holder. With the zero token it is as new(Guard).
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

// Admit returns nil if t is not older than the largest token admitted, and makes it the largest. From then on every
// older token is refused.
//
// Errors: *[StaleError] for an older token, *[ConflictError] for the same epoch and seq by another holder or with
// another id, *[RoleError] for the token of another role, [ErrNoToken] for the zero token.
//
// For the token already admitted it takes no lock and allocates nothing. The first Admit of a newer token waits for
// the actions that run under [Guard.Do] and holds up new ones meanwhile.
//
// Admit alone says that no newer token was admitted before; one may be right after. Where the check and the act must
// not be torn apart, use Do.
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

// Do admits t and calls act as one step: no newer token is admitted between the two, nor until act has returned.
// It returns the error of [Guard.Admit] without calling act, or else act's.
//
// Actions under the same token run side by side. An action that hangs holds up the next leader, so give it a bound.
// act must not call Do of the same guard, nor Admit with a newer token: both would wait for act itself.
func (g *Guard) Do(t Token, act func() error) error {
	if err := g.Admit(t); err != nil {
		return err
	}
	g.change.RLock()
	defer g.change.RUnlock()
	// A newer token may have been admitted since; from here on none can be.
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
		// The same term. What this token knows beyond the stored one is kept: see raise.
		known := h.Role != "" && (h.Holder != "" || t.Holder == "") && (h.id != nil || t.id == nil)
		return !known, nil
	}
}

// raise makes t the largest token. A floor may have been restored from an epoch alone; the first complete token of
// that epoch fills in the rest, and an incomplete one takes nothing away.
func (g *Guard) raise(t Token) {
	if h := g.high.Load(); h != nil && t.Compare(*h) == 0 {
		t.Holder = cmp.Or(t.Holder, h.Holder)
		t.id = cmp.Or(t.id, h.id)
	}
	g.high.Store(&t)
}
