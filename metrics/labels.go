package metrics

import (
	"slices"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/rolemanager/rolemanager/event"
)

// maxValues is the most values that a label may have if other processes fill it in; otherValue
// replaces the rest.
const (
	maxValues  = 64
	otherValue = "other"
)

// labels decides which labels every metric has, and what values they take.
type labels struct {
	instance   bool
	kubernetes bool // there are the names of client-go too

	mu   sync.Mutex
	seen map[string][]string // by label; at most maxValues each
}

// names returns a metric's label names: its own, then the labels that all metrics have.
func (l *labels) names(own ...string) []string {
	own = append(own, "bucket")
	if l.instance {
		own = append(own, "instance_id")
	}
	return own
}

// values returns label values in the order of names.
func (l *labels) values(m event.Meta, own ...string) []string {
	own = append(own, m.Bucket)
	if l.instance {
		own = append(own, m.Instance)
	}
	return own
}

// ofSession matches every series that a session has made.
func (l *labels) ofSession(m event.Meta) prometheus.Labels {
	match := prometheus.Labels{"bucket": m.Bucket}
	if l.instance {
		match["instance_id"] = m.Instance
	}
	return match
}

// bound returns value, or "other" if label has had too many different values. Some values come over
// the wire, and a peer must not be able to fill this process's memory.
func (l *labels) bound(label, value string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	seen := l.seen[label]
	if slices.Contains(seen, value) {
		return value
	}
	if len(seen) >= maxValues {
		return otherValue
	}
	if l.seen == nil {
		l.seen = make(map[string][]string)
	}
	l.seen[label] = append(seen, value)
	return value
}

// known returns the values that bound has let through for label.
func (l *labels) known(label string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.seen[label])
}

func (l *labels) counter(name, help string, own ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, l.names(own...))
}

func (l *labels) gauge(name, help string, own ...string) *prometheus.GaugeVec {
	return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, l.names(own...))
}

// histogram has buckets in seconds that begin at first and grow by factor, 13 of them.
func (l *labels) histogram(name, help string, first, factor float64, own ...string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: name, Help: help, Buckets: prometheus.ExponentialBuckets(first, factor, 13),
	}, l.names(own...))
}
