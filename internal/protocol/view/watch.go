package view

import "github.com/rolemanager/rolemanager/internal/protocol/record"

// Watch is what is known of a watch when it begins to deliver.
type Watch struct {
	Wide bool // it delivers every key
	// Split means that the records of workers come by a watch of their own. Each of the two is in
	// order, and there is no order between them.
	Split bool
	// OwnIdle means that it shows the idle beats at our own key, also those of another process of our
	// name, though it is not of every key.
	OwnIdle bool
	// Remember means that somebody is to ask SeenLease of it: of a watch over every key.
	Remember bool
	// Known is the highest revision seen when the making of this watch began, at Begun on the
	// observer's scale. 0 means that it is not known. The store has lost something if Last is
	// before Known, or if the watch delivers something older than was known of its key then; or a
	// replica lags.
	Known uint64
	Begun record.Instant
	// Last is the last revision of the store, by an answer that came after Begun; without an answer
	// it is Known. Told means that the store's leader answered. Single means that there is no other
	// replica, so nothing lags. Behind means that some replicas are not up to date, and the watch
	// may be of one of them.
	Last                 uint64
	Told, Single, Behind bool
}
