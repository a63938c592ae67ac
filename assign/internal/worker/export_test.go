package worker

// Poison makes the loop panic when it next looks at the kinds that its process handles: a
// declaration that is nil cannot be copied.
func (r *Registry) Poison() {
	r.mu.Lock()
	r.declared["poison"] = nil
	r.mu.Unlock()
	r.offer <- struct{}{}
}

// Cure is the opposite of Poison.
func (r *Registry) Cure() {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.declared, "poison")
}
