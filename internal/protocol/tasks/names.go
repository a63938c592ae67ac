package tasks

// A task's id and its keys are one text, in this order: id, unique, sticky and limit key. It is the books' own copy, so that
// they keep nothing else of the message that it came in.

// name gives a task its id and its keys.
func (t *task) name(id string, k *Keys) {
	if k == nil {
		k = &Keys{}
	}
	t.text = string(append(append(append(append(make([]byte, 0, 512), id...), k.Unique...), k.Sticky...), k.Limit...))
	t.idEnd = uint16(len(id))
	t.uniqueEnd = t.idEnd + uint16(len(k.Unique))
	t.stickyEnd = t.uniqueEnd + uint16(len(k.Sticky))
}

func (t *task) id() string     { return t.text[:t.idEnd] }
func (t *task) unique() string { return t.text[t.idEnd:t.uniqueEnd] }
func (t *task) sticky() string { return t.text[t.uniqueEnd:t.stickyEnd] }
func (t *task) limit() string  { return t.text[t.stickyEnd:] }

// keys are its keys, nil for none.
func (t *task) keys() *Keys {
	if int(t.idEnd) == len(t.text) {
		return nil
	}
	return &Keys{Unique: t.unique(), Sticky: t.sticky(), Limit: t.limit()}
}
