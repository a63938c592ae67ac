package tasks

// A task's id, its keys and its tag are one text, in this order: id, unique, sticky and limit key,
// tag. It is the books' own copy, so that they keep nothing else of the message that it came in.

// name gives a task its id, its keys and its tag.
func (t *task) name(id string, k *Keys, tag string) {
	if k == nil {
		k = &Keys{}
	}
	text := make([]byte, 0, 512)
	for _, part := range []string{id, k.Unique, k.Sticky, k.Limit, tag} {
		text = append(text, part...)
	}
	t.text = string(text)
	t.idEnd, t.tagSize = uint8(len(id)), uint8(len(tag))
	t.uniqueEnd = uint16(len(id) + len(k.Unique))
	t.stickyEnd = t.uniqueEnd + uint16(len(k.Sticky))
}

func (t *task) id() string     { return t.text[:t.idEnd] }
func (t *task) unique() string { return t.text[t.idEnd:t.uniqueEnd] }
func (t *task) sticky() string { return t.text[t.uniqueEnd:t.stickyEnd] }
func (t *task) limit() string  { return t.text[t.stickyEnd:t.limitEnd()] }
func (t *task) tag() string    { return t.text[t.limitEnd():] }

func (t *task) limitEnd() int { return len(t.text) - int(t.tagSize) }

// keys are its keys, nil for none.
func (t *task) keys() *Keys {
	if int(t.idEnd) == t.limitEnd() {
		return nil
	}
	return &Keys{Unique: t.unique(), Sticky: t.sticky(), Limit: t.limit()}
}
