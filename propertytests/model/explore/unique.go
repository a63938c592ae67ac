package explore

import "github.com/rolemanager/rolemanager/propertytests/model/explore/unique"

// Unique are the configurations of unique keys that are searched.
func Unique() []unique.Config {
	eager := func(task int) unique.Client { return unique.Client{Task: task, Key: 1, Own: true, Eager: true} }
	two := []unique.Client{{Task: 1, Key: 1, Own: true}, eager(2)}
	return []unique.Config{
		{Name: "undisturbed", Clients: two, Copies: 1},
		{Name: "two clients", Clients: two, Copies: 1, Faults: 1},
		{Name: "two clients, two faults", Clients: two, Copies: 1, Faults: 2},
		{Name: "three clients", Clients: []unique.Client{eager(1), eager(2), eager(3)}, Copies: 1, Faults: 1},
		{Name: "one id and one key", Clients: []unique.Client{
			{Task: 1, Key: 1}, {Task: 1, Key: 1}, eager(2),
		}, Copies: 1, Faults: 1},
		{
			Name: "one id and two keys", Clients: []unique.Client{{Task: 1, Key: 1}, {Task: 1, Key: 2}},
			Copies: 1, Faults: 1,
		},
		{
			Name: "one id with and without a key", Clients: []unique.Client{{Task: 1, Key: 1}, eager(2)}, Plain: 1,
			Copies: 1, Faults: 1,
		},
		{Name: "submitted again", Clients: []unique.Client{eager(1), eager(2)}, Requeue: 1, Copies: 1, Faults: 1},
	}
}
