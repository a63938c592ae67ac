package snapshot

// Table remembers the newest entries of a map: when one half is full, the older half is forgotten.
// A forgotten entry only costs time.
type Table[K comparable, V any] struct {
	young, old map[K]V
	Room       int
	Hits, Asks int
}

// NewTable returns a table with room for so many entries, twice.
func NewTable[K comparable, V any](room int) *Table[K, V] {
	return &Table[K, V]{young: map[K]V{}, old: map[K]V{}, Room: room}
}

// Get looks up what was put under a key.
func (t *Table[K, V]) Get(k K) (V, bool) {
	t.Asks++
	v, ok := t.young[k]
	if ok {
		t.Hits++
		return v, true
	}
	if v, ok = t.old[k]; ok {
		t.Hits++
		t.Put(k, v)
	}
	return v, ok
}

// Put remembers v.
func (t *Table[K, V]) Put(k K, v V) {
	if len(t.young) >= t.Room {
		t.old, t.young = t.young, make(map[K]V, t.Room)
	}
	t.young[k] = v
}
