package gather

// recent is which of the last writes were refused.
type recent struct {
	refused [remembered]bool
	next    int
	count   int // of refused ones
}

const (
	remembered = 1000
	maxRefused = remembered / 20
)

func (r *recent) add(refused bool) {
	if r.refused[r.next] {
		r.count--
	}
	if r.refused[r.next] = refused; refused {
		r.count++
	}
	r.next = (r.next + 1) % remembered
}

func (r *recent) often() bool { return r.count > maxRefused }
