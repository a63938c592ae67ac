package snapshot

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unsafe"
)

// Looker walks over values of any type by rules.
type Looker struct {
	rules *Rules
	looks map[reflect.Type]look
	met   map[string]bool // fields, as Type.field
}

// look adds the value at an address to a walk.
type look func(w *Walk, at unsafe.Pointer)

// NewLooker returns a Looker by these rules.
func NewLooker(r *Rules) *Looker { return &Looker{r, map[reflect.Type]look{}, map[string]bool{}} }

// Unmet are the fields that the rules name and that no value so far has had: each is one that was
// renamed, or never was.
func (l *Looker) Unmet() (names []string) {
	for _, all := range [][]string{
		slices.Collect(maps.Keys(l.rules.Omitted)), slices.Collect(maps.Keys(l.rules.Apart)),
		slices.Collect(maps.Keys(l.rules.Fields)), slices.Collect(maps.Keys(l.rules.Clipped)),
	} {
		for _, name := range all {
			if !l.met[name] {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// Look adds what x points at to a walk.
func Look[T any](l *Looker, w *Walk, x *T) { l.look(reflect.TypeFor[T]())(w, unsafe.Pointer(x)) }

func (l *Looker) look(t reflect.Type) look {
	if f, ok := l.looks[t]; ok {
		return f
	}
	l.looks[t] = func(w *Walk, at unsafe.Pointer) { l.looks[t](w, at) } // for types that refer to themselves
	f := l.make(t)
	if hook := l.rules.Hooks[t]; hook != nil {
		rest := f
		f = func(w *Walk, at unsafe.Pointer) {
			hook(w, reflect.NewAt(t, at).Interface(), func() { rest(w, at) })
		}
	}
	l.looks[t] = f
	return f
}

func (l *Looker) make(t reflect.Type) look {
	if class, ok := l.rules.Types[t]; ok {
		return named(class, t)
	}
	if t == l.rules.Instant {
		horizon := l.rules.Horizon
		return func(w *Walk, at unsafe.Pointer) { w.Instant(*(*int64)(at), horizon) }
	}
	switch t.Kind() {
	case reflect.Bool:
		return func(w *Walk, at unsafe.Pointer) { w.Flag(*(*bool)(at)) }
	case reflect.Uint8, reflect.Int8:
		return func(w *Walk, at unsafe.Pointer) { w.Word(uint64(*(*uint8)(at))) }
	case reflect.Uint16, reflect.Int16:
		return func(w *Walk, at unsafe.Pointer) { w.Word(uint64(*(*uint16)(at))) }
	case reflect.Uint32, reflect.Int32:
		return func(w *Walk, at unsafe.Pointer) { w.Word(uint64(*(*uint32)(at))) }
	case reflect.Int64, reflect.Int, reflect.Float64:
		return func(w *Walk, at unsafe.Pointer) { w.Word(*(*uint64)(at)) }
	case reflect.Uint64:
		return l.number
	case reflect.Float32:
		return func(w *Walk, at unsafe.Pointer) { w.Word(uint64(*(*uint32)(at))) }
	case reflect.String:
		return l.text
	case reflect.Struct:
		return l.fields(t)
	case reflect.Slice:
		return list(t, l.look(t.Elem()))
	case reflect.Array:
		elem, size, length := l.look(t.Elem()), t.Elem().Size(), t.Len()
		return func(w *Walk, at unsafe.Pointer) {
			for i := range length {
				elem(w, unsafe.Add(at, uintptr(i)*size))
			}
		}
	case reflect.Map:
		return l.pairs(t, nil)
	case reflect.Pointer:
		elem := l.look(t.Elem())
		return func(w *Walk, at unsafe.Pointer) {
			p := *(*unsafe.Pointer)(at)
			if p == nil {
				w.Word(0)
			} else if !w.met(uintptr(p)) {
				elem(w, p)
			}
		}
	case reflect.Interface:
		return func(w *Walk, at unsafe.Pointer) {
			v := reflect.NewAt(t, at).Elem()
			if v.IsNil() {
				w.Word(0)
				return
			}
			v = v.Elem()
			x := reflect.New(v.Type())
			x.Elem().Set(v)
			w.Sum.Text(v.Type().String())
			l.look(v.Type())(w, x.UnsafePointer())
		}
	}
	panic("plain: cannot look at " + t.String())
}

// names looks at a name, at a list of names, or at a map whose keys are names.
func (l *Looker) names(class Class, t reflect.Type) look {
	switch t.Kind() {
	case reflect.Map:
		return l.pairs(t, named(class, t.Key()))
	case reflect.Slice:
		return list(t, named(class, t.Elem()))
	}
	return named(class, t)
}

func named(class Class, t reflect.Type) look {
	if t.Kind() != reflect.Uint64 && t.Kind() != reflect.Int64 {
		panic("plain: names of type " + t.String())
	}
	return func(w *Walk, at unsafe.Pointer) {
		if x := *(*uint64)(at); x == 0 {
			w.Word(0)
		} else {
			w.Name(Name{class, w.Owner, x})
		}
	}
}

func (l *Looker) number(w *Walk, at unsafe.Pointer) {
	x := *(*uint64)(at)
	if n, ok := l.rules.Number(x); ok {
		w.Name(n)
		return
	}
	w.Word(x)
}

func (l *Looker) text(w *Walk, at unsafe.Pointer) {
	s := *(*string)(at)
	if n, ok := l.rules.Text(s); ok {
		w.Name(n)
		return
	}
	w.Sum.Text(s)
}

func (l *Looker) fields(t reflect.Type) look {
	type seenField struct {
		offset uintptr
		look   look
	}
	var fields []seenField
	for i := range t.NumField() {
		f := t.Field(i)
		name := strings.TrimPrefix(t.String(), t.PkgPath()[strings.LastIndex(t.PkgPath(), "/")+1:]+".") + "." + f.Name
		if cut := strings.Index(name, "["); cut >= 0 { // the arguments of a generic type do not matter
			name = name[:cut] + name[strings.LastIndex(name, "]")+1:]
		}
		l.met[name] = true
		if l.rules.Omitted[name] != "" {
			continue
		}
		if l.rules.Apart[name] != "" {
			fields = append(fields, seenField{f.Offset, apart(name, f.Type)})
			continue
		}
		if class, ok := l.rules.Fields[name]; ok {
			fields = append(fields, seenField{f.Offset, l.names(class, f.Type)})
			continue
		}
		if most, ok := l.rules.Clipped[name]; ok {
			fields = append(fields, seenField{f.Offset, clipped(name, f.Type, most)})
			continue
		}
		fields = append(fields, seenField{f.Offset, l.look(f.Type)})
	}
	return func(w *Walk, at unsafe.Pointer) {
		for _, f := range fields {
			f.look(w, unsafe.Add(at, f.offset))
		}
	}
}

func apart(name string, t reflect.Type) look {
	if t.Kind() != reflect.Uint64 {
		panic("plain: cannot tell parts apart by " + name)
	}
	return func(w *Walk, at unsafe.Pointer) { w.Apart.Word(*(*uint64)(at)) }
}

func clipped(name string, t reflect.Type, most int) look {
	switch t.Kind() {
	case reflect.Int:
		return func(w *Walk, at unsafe.Pointer) { w.Word(uint64(min(*(*int)(at), most))) }
	case reflect.Int32:
		return func(w *Walk, at unsafe.Pointer) { w.Word(uint64(min(int(*(*int32)(at)), most))) }
	}
	panic("plain: cannot clip " + name)
}

func list(t reflect.Type, elem look) look {
	size := t.Elem().Size()
	return func(w *Walk, at unsafe.Pointer) {
		s := (*struct {
			data     unsafe.Pointer
			len, cap int
		})(at)
		w.Word(uint64(s.len))
		for i := range s.len {
			elem(w, unsafe.Add(s.data, uintptr(i)*size))
		}
	}
}

// pairs looks at a map in the order of its keys, which have to be ordered in a way that no renaming
// changes.
func (l *Looker) pairs(t reflect.Type, key look) look {
	if !sortable(t.Key()) {
		return func(_ *Walk, at unsafe.Pointer) {
			if reflect.NewAt(t, at).Elem().Len() > 0 {
				panic("plain: cannot look at " + t.String() + ": its keys have no order")
			}
		}
	}
	if key == nil {
		key = l.look(t.Key())
	}
	value := l.look(t.Elem())
	type keyed struct{ key, value reflect.Value }
	return func(w *Walk, at unsafe.Pointer) {
		v := reflect.NewAt(t, at).Elem()
		w.Word(uint64(v.Len()))
		if v.Len() == 0 {
			return
		}
		all := make([]keyed, 0, v.Len())
		for i := v.MapRange(); i.Next(); {
			p := keyed{key: reflect.New(t.Key()), value: reflect.New(t.Elem())}
			p.key.Elem().SetIterKey(i)
			p.value.Elem().SetIterValue(i)
			all = append(all, p)
		}
		slices.SortFunc(all, func(a, b keyed) int { return l.compare(a.key.Elem(), b.key.Elem()) })
		for _, p := range all {
			key(w, p.key.UnsafePointer())
			value(w, p.value.UnsafePointer())
		}
	}
}

// sortable reports whether there is an order of the keys of a type.
func sortable(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.String, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return true
	case reflect.Struct:
		for i := range t.NumField() {
			if !sortable(t.Field(i).Type) {
				return false
			}
		}
		return true
	}
	return false
}

func (l *Looker) compare(a, b reflect.Value) int {
	switch a.Kind() {
	case reflect.String:
		if n, is := l.rules.Text(a.String()); is && !slices.Contains(l.rules.Steady, n.Class) {
			panic("plain: the keys of a map are names without an order: " + a.String())
		}
		return strings.Compare(a.String(), b.String())
	case reflect.Struct:
		for i := range a.NumField() {
			if c := l.compare(a.Field(i), b.Field(i)); c != 0 {
				return c
			}
		}
		return 0
	}
	return cmp.Compare(a.Uint(), b.Uint())
}
