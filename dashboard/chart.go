package dashboard

import (
	"fmt"
	"time"
)

// bar is a term in the timeline of a role. Places are in thousandths of the width.
type bar struct {
	X, Width int
	Hue      int // which of the colours of instances
	Open     bool
	Text     string
}

// bars draws the terms, the newest first, between the first of them and now.
func bars(terms []term, watched, now time.Time) []bar {
	if len(terms) == 0 {
		return nil
	}
	from := terms[len(terms)-1].Began
	if from.Before(watched) {
		from = watched
	}
	length := max(now.Sub(from), time.Second)
	at := func(t time.Time) int { return int(1000 * max(t.Sub(from), 0) / length) }
	hues := map[string]int{}
	var all []bar
	for i := len(terms) - 1; i >= 0; i-- {
		t := terms[i]
		if _, known := hues[t.Leader]; !known {
			hues[t.Leader] = len(hues) % 6
		}
		end := t.Ended
		if end.IsZero() {
			end = now
		}
		x := at(t.Began)
		text := fmt.Sprintf("%s, epoch %d", t.Leader, t.Epoch)
		if t.Reason != "" {
			text += ", ended: " + t.Reason
		}
		all = append(all, bar{x, max(at(end)-x, 3), hues[t.Leader], t.Ended.IsZero(), text})
	}
	return all
}
