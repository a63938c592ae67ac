package snapshot

import (
	"reflect"
	"slices"
	"unsafe"
)

// Cloner copies values with everything that they point at. Pointers to the same value point to the
// same copy, and cycles stay cycles. A pointer into a value points into its copy, if the value is
// reached first. Functions are shared: they have to be without a state of their own.
type Cloner struct {
	rules *Rules
	fixes map[reflect.Type]fix
}

// fix replaces, in a copy made bit by bit, every reference by one to a copy. A nil fix: there is
// none.
type fix func(c *copies, at unsafe.Pointer)

// copies are those of one Clone, by their original.
type copies struct{ all []extent }

// extent is a piece of memory and its copy.
type extent struct {
	from, to unsafe.Pointer
	size     uintptr
}

// find is what an address has become, nil when no copy has it.
func (c *copies) find(x unsafe.Pointer, size uintptr) unsafe.Pointer {
	for i := range c.all {
		e := &c.all[i]
		if at := uintptr(x) - uintptr(e.from); at < e.size { // below it the difference is huge
			if at+size > e.size {
				panic("plain: a part of a value was copied before the value: let what points at the whole come first")
			}
			return unsafe.Add(e.to, at)
		}
	}
	return nil
}

// add keeps what has become of a piece of memory. None of what was copied before may be a part of
// it.
func (c *copies) add(x, y unsafe.Pointer, size uintptr) {
	for i := range c.all {
		if uintptr(c.all[i].from)-uintptr(x) < size {
			panic("plain: a part of a value was copied before the value: let what points at the whole come first")
		}
	}
	c.all = append(c.all, extent{x, y, size})
}

// NewCloner returns a Cloner by these rules.
func NewCloner(r *Rules) *Cloner { return &Cloner{r, map[reflect.Type]fix{}} }

// Clone returns a copy of what x points at.
func Clone[T any](c *Cloner, x *T) *T {
	t := reflect.TypeFor[T]()
	return (*T)(c.copyOf(new(copies), t, c.fix(t), unsafe.Pointer(x)))
}

func (c *Cloner) copyOf(done *copies, t reflect.Type, f fix, x unsafe.Pointer) unsafe.Pointer {
	if y := done.find(x, t.Size()); y != nil {
		return y
	}
	v := reflect.New(t)
	v.Elem().Set(reflect.NewAt(t, x).Elem())
	y := v.UnsafePointer()
	if t.Size() > 0 {
		done.add(x, y, t.Size())
	}
	if f != nil {
		f(done, y)
	}
	return y
}

// fix makes the fix of a type, once. Types refer to themselves, so the one that is being made is
// looked up when it is used.
func (c *Cloner) fix(t reflect.Type) fix {
	if f, ok := c.fixes[t]; ok {
		return f
	}
	if !refers(t, nil) {
		c.fixes[t] = nil
		return nil
	}
	c.fixes[t] = func(done *copies, at unsafe.Pointer) { c.fixes[t](done, at) }
	f := c.make(t)
	c.fixes[t] = f
	return f
}

func (c *Cloner) make(t reflect.Type) fix {
	switch t.Kind() {
	case reflect.Func:
		return nil
	case reflect.Struct:
		return c.fixStruct(t)
	case reflect.Pointer:
		elem := t.Elem()
		if slices.Contains(c.rules.Frozen, elem) {
			return nil
		}
		f := c.fix(elem)
		return func(done *copies, at unsafe.Pointer) {
			if p := (*unsafe.Pointer)(at); *p != nil {
				*p = c.copyOf(done, elem, f, *p)
			}
		}
	case reflect.Slice:
		return c.fixSlice(t)
	case reflect.Map:
		return c.fixMap(t)
	case reflect.Interface:
		return func(_ *copies, at unsafe.Pointer) {
			if v := reflect.NewAt(t, at).Elem(); !v.IsNil() && refers(v.Elem().Type(), nil) {
				panic("plain: an interface holds " + v.Elem().Type().String() + ", which refers to something")
			}
		}
	}
	panic("plain: cannot copy " + t.String())
}

func (c *Cloner) fixStruct(t reflect.Type) fix {
	type fixedField struct {
		offset uintptr
		fix    fix
	}
	var fields []fixedField
	for i := range t.NumField() {
		if f := c.fix(t.Field(i).Type); f != nil {
			fields = append(fields, fixedField{t.Field(i).Offset, f})
		}
	}
	return func(done *copies, at unsafe.Pointer) {
		for _, f := range fields {
			f.fix(done, unsafe.Add(at, f.offset))
		}
	}
}

func (c *Cloner) fixSlice(t reflect.Type) fix {
	f, size := c.fix(t.Elem()), t.Elem().Size()
	return func(done *copies, at unsafe.Pointer) {
		v := reflect.NewAt(t, at).Elem()
		n := v.Len()
		if n == 0 { // but for what it has room for it is nothing; nil stays nil
			v.SetCap(0)
			return
		}
		to := reflect.MakeSlice(t, n, n)
		reflect.Copy(to, v)
		v.Set(to)
		if f != nil {
			for i := range n {
				f(done, unsafe.Add(to.UnsafePointer(), uintptr(i)*size))
			}
		}
	}
}

func (c *Cloner) fixMap(t reflect.Type) fix {
	keys, values := c.fix(t.Key()), c.fix(t.Elem())
	return func(done *copies, at unsafe.Pointer) {
		v := reflect.NewAt(t, at).Elem()
		if v.IsNil() {
			return
		}
		to := reflect.MakeMapWithSize(t, v.Len())
		key, value := reflect.New(t.Key()), reflect.New(t.Elem())
		for i := v.MapRange(); i.Next(); {
			key.Elem().SetIterKey(i)
			value.Elem().SetIterValue(i)
			if keys != nil {
				keys(done, key.UnsafePointer())
			}
			if values != nil {
				values(done, value.UnsafePointer())
			}
			to.SetMapIndex(key.Elem(), value.Elem())
		}
		v.Set(to)
	}
}

// refers reports whether values of a type may refer to something that can be changed.
func refers(t reflect.Type, above []reflect.Type) bool {
	if slices.Contains(above, t) {
		return false
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Interface, reflect.Func, reflect.Chan, reflect.UnsafePointer:
		return true
	case reflect.Array:
		if refers(t.Elem(), above) {
			panic("plain: cannot copy " + t.String())
		}
	case reflect.Struct:
		for i := range t.NumField() {
			if refers(t.Field(i).Type, append(above, t)) {
				return true
			}
		}
	}
	return false
}
