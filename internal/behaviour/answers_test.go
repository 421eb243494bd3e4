package behaviour_test

// Files that models read, and what they then say.
const (
	middleware = "auth/middleware.go"
	token      = "auth/token.go"

	jwt = "The middleware takes the bearer token and has Verify check its signature and its expiry " +
		"(`auth/middleware.go:4-9`)."
	guess   = "It uses JWT: the signature of the bearer token is checked with the server's key, and its expiry after that."
	lock    = "A mutex is a lock: it lets one thread at a time into a critical section, and has the others wait for it."
	decided = "You decided on 3 May to use no cache (`caching.md:3`)."
	above   = "My answer above is complete."
)

// answers are of models that know nothing of signals.
func answers() []behaviour {
	// without is a model that answers without reading, and what it says when it is told.
	without := func(name, told, holds, lacks string) behaviour {
		return behaviour{name: "answers without reading, then says " + name, looked: true, ask: auth,
			plays: plays(says(guess), says(told)), plain: 1, ours: exactly(2),
			stop: "satisfied", holds: []string{holds}, lacks: []string{lacks}, basis: other}
	}
	sure := behaviour{name: "answers without reading, then says “Sorry, here is the signal”, with a good one", looked: true,
		ask: auth, plain: 1, ours: exactly(2), stop: "satisfied",
		plays: plays(says(guess), turn(says("Sorry, here is the signal:"), done())), holds: []string{guess},
		lacks: []string{"Sorry"}, basis: other}
	complete := without("that its answer above is complete", above, guess, above)
	complete.wires = true
	return []behaviour{
		{name: "reads, then answers", ask: auth, plays: plays(reads(middleware), says(jwt)), plain: 2, ours: exactly(2),
			stop:  "satisfied",
			holds: []string{jwt}, ran: []string{"code_read"}, notice: "signal.missing", wires: true},
		{name: "reads with a word beside it, then answers", ask: auth,
			plays: plays(turn(says("Let me open the middleware."), reads(middleware)), says(jwt)),
			plain: 2, ours: exactly(2), stop: "satisfied", holds: []string{jwt}, lacks: []string{"Let me open"},
			ran: []string{"code_read"}},
		{name: "searches, reads, answers", ask: auth, plays: plays(searches("auth middleware token"), reads(middleware),
			says(jwt)), plain: 3, ours: exactly(3),
			stop: "satisfied", holds: []string{jwt}, ran: []string{"code_search", "code_read"}},
		{name: "reads two files at once, then answers", ask: auth, plays: plays(turn(reads(middleware), reads(token)),
			says(jwt)), plain: 2, ours: exactly(2),
			stop: "satisfied", holds: []string{jwt}, ran: []string{"code_read", "code_read"}},
		{name: "reads a note, then answers", ask: caching, plays: plays(readsNote("caching.md"), says(decided)),
			plain: 2, ours: exactly(2), stop: "satisfied",
			holds: []string{decided}, ran: []string{"vault_read"}},
		{name: "reads, answers, and offers more", ask: auth, plays: plays(reads(middleware),
			says(jwt+" Shall I look at the tests as well?")), plain: 2, ours: exactly(2),
			stop: "satisfied", holds: []string{jwt, "Shall I"}, ran: []string{"code_read"}},
		{name: "replies to thanks", ask: thanks, plays: plays(says("You're welcome!")), plain: 1, ours: exactly(1),
			stop: "satisfied", holds: []string{"You're welcome!"}},

		{name: "answers a general question at once", ask: mutex, plays: plays(says(lock)), plain: 1, ours: exactly(1),
			stop: "satisfied", holds: []string{lock}, basis: known, wires: true},
		{name: "answers a general question, and offers more", ask: mutex, plays: plays(says(lock +
			" Would you like an example?")), plain: 1, ours: exactly(1), stop: "satisfied", holds: []string{lock},
			basis: known},
		{name: "asks the person about a general question", ask: mutex, plays: plays(says(
			"Do you mean the lock or the band?")), plain: 1, ours: exactly(1), stop: "needs_user"},

		{name: "answers a question about the code without reading, again and again", looked: true, ask: auth,
			plays: plays(says(guess)), plain: 1, ours: exactly(2), stop: "satisfied",
			holds: []string{guess}, basis: other, told: `looked up in their sources`, wires: true},
		{name: "answers a question about the notes without reading, again and again", looked: true, ask: caching,
			plays: plays(says("You decided to use a large cache for it.")), plain: 1,
			ours: exactly(2), stop: "satisfied", holds: []string{"large cache"}, basis: other,
			told: `looked up in their sources`},
		without("the same again", guess, guess, above),
		complete,
		without("that it has given the answer already", "The answer has already been given above.", guess, "already"),
		without("that one may see before", "Please see my previous response.", guess, "previous"),
		without("that it stands by it", "I stand by what I wrote; nothing needs to be added to it.", guess, "stand by"),
		without("the opposite, in fewer words", "No, that was wrong: the bearer token is a ticket of Kerberos.",
			"Kerberos", above),
		without("more, still without reading", guess+" In Go that is jwt.Parse, with Keyfunc and Claims.",
			"jwt.Parse", above),
		sure,
		{name: "answers without reading, and reads when it is told", looked: true, ask: auth,
			plays: plays(says(guess), reads(middleware), says(jwt)), plain: 1, ours: exactly(3),
			stop: "satisfied", holds: []string{jwt}, lacks: []string{guess}, told: `looked up in their sources`,
			ran: []string{"code_read"}, wires: true},
		{name: "answers without reading, reads when it is told, and refers back", looked: true, ask: auth,
			plays: plays(says(guess), reads(middleware), says("As I said above.")), plain: 1,
			ours: exactly(3), stop: "satisfied", holds: []string{guess}, basis: other, ran: []string{"code_read"}},
		{name: "searches only, then answers", ask: auth, plays: plays(searches("auth middleware token"), says(guess)),
			plain: 2, ours: exactly(2), stop: "satisfied",
			holds: []string{guess}, basis: found, ran: []string{"code_search"}},
		{name: "answers after four searches that find nothing", ask: auth, plain: 5, ours: exactly(5), stop: "satisfied",
			holds: []string{guess}, basis: empty,
			plays: plays(searches("kerberos"), searches("saml"), searches("ldap"), searches("radius"), says(guess)),
			ran:   []string{"code_search", "code_search", "code_search", "code_search"}},

		{name: "asks the person", ask: auth,
			plays: plays(says("There may be two of them. Do you mean the one of the API or the one of the admin pages?")), plain: 1, ours: exactly(1),
			stop: "needs_user", holds: []string{"Do you mean"}, wires: true},
		{name: "searches, then asks the person", ask: auth, plays: plays(searches("auth"),
			says("Which of the two do you mean?")), plain: 2, ours: exactly(2),
			stop: "needs_user", holds: []string{"Which of the two"}, ran: []string{"code_search"}},
		{name: "announces for ever", looked: true, ask: auth, plays: plays(says("Let me look at the middleware first.")), plain: 1,
			ours: exactly(2), stop: "partial",
			holds: []string{"Let me look"}},
		{name: "announces for ever, in other words each time", looked: true, ask: auth, plain: 1, ours: exactly(2), stop: "partial",
			plays: plays(says("Let me look at the middleware first."), says("I will now open auth/middleware.go."),
				says("I'll read the file."))},
		{name: "announces, does it when it is told, and answers", looked: true, ask: auth,
			plays: plays(says("Let me look at the middleware first."), reads(middleware), says(jwt)), plain: 1,
			ours: exactly(3), stop: "satisfied", holds: []string{jwt}, ran: []string{"code_read"}},
	}
}

// reports are of models that know the signals, and use them in their own way.
func reports() []behaviour {
	read := []string{"code_read"}
	stuck := isStuck("the index is on a disk that is not mounted", "mount the disk of the index")
	return []behaviour{
		{name: "reads, answers, and says that it has enough", ask: auth,
			plays: plays(turn(reads(middleware), goesOn("open it")), turn(says(jwt), done())), plain: 2,
			ours: exactly(2), stop: "satisfied", holds: []string{jwt}, ran: read, signal: "context_sufficient",
			wires: true},
		{name: "has enough for thanks", ask: thanks, plays: plays(turn(says("You're welcome!"), done())), plain: 1,
			ours: exactly(1), stop: "satisfied",
			holds: []string{"You're welcome!"}},
		{name: "claims sources, with nothing opened", looked: true, ask: auth,
			plays: plays(turn(says(guess), says(signal("context_sufficient", "sources_found", "3", "confidence",
				"0.9")))),
			plain: 1, ours: exactly(2), stop: "satisfied", holds: []string{guess}, basis: other,
			told: `looked up in their sources`, wires: true},
		{name: "claims sources, with hits alone", ask: auth, plays: plays(searches("auth middleware token"),
			turn(says(guess), done())), plain: 2, ours: exactly(2),
			stop: "satisfied", holds: []string{guess}, basis: found, ran: []string{"code_search"}},
		{name: "claims sources, after four searches that find nothing", ask: auth, plain: 5, ours: exactly(5),
			stop: "satisfied", holds: []string{guess}, basis: empty,
			plays: plays(searches("kerberos"), searches("saml"), searches("ldap"), searches("radius"),
				turn(says(guess), done())),
			ran: []string{"code_search", "code_search", "code_search", "code_search"}},
		{name: "claims sources, and opens one when it is told", looked: true, ask: auth, plays: plays(turn(says(guess), done()),
			reads(middleware), turn(says(jwt), done())), plain: 1,
			ours: exactly(3), stop: "satisfied", holds: []string{jwt}, ran: read},

		{name: "gives a whole answer with need_turn, then says that it is given above", ask: auth, plain: 2,
			ours: exactly(3), stop: "satisfied", holds: []string{jwt},
			plays: plays(reads(middleware), turn(says(jwt), goesOn("say more")),
				says("The answer is already given above.")), lacks: []string{"already"}, ran: read, wires: true},
		{name: "gives a whole answer with need_turn, then says so with enough", ask: auth, plain: 2, ours: exactly(3),
			stop: "satisfied", holds: []string{jwt},
			plays: plays(reads(middleware), turn(says(jwt), goesOn("say more")), turn(says(above), done())),
			lacks: []string{above}, ran: read},
		{name: "gives a whole answer with need_turn, then a signal alone", ask: auth, plain: 2, ours: exactly(3),
			stop: "satisfied", holds: []string{jwt},
			plays: plays(reads(middleware), turn(says(jwt), goesOn("say more")), done()), ran: read},
		{name: "gives a whole answer with need_turn, again and again", ask: auth, plays: plays(reads(middleware),
			turn(says(jwt), goesOn("say more"))), plain: 2,
			ours: exactly(3), stop: "satisfied", holds: []string{jwt}, ran: read},
		{name: "goes on with need_turn and no call, then reads and answers", ask: auth, plain: 1, ours: exactly(3),
			stop: "satisfied", holds: []string{jwt}, ran: read,
			plays: plays(turn(says("I know where to look."), goesOn("open the middleware")), reads(middleware),
				turn(says(jwt), done()))},
		{name: "goes on after an answer, and finds more", ask: auth, plain: 2, ours: exactly(4), stop: "satisfied",
			ran: []string{"code_read", "code_read"},
			plays: plays(reads(middleware), turn(says(jwt), goesOn("see what Verify does")), reads(token),
				turn(says("Verify checks signature and expiry (`auth/token.go:4`)."), done())),
			holds: []string{"auth/token.go:4"}},
		{name: "announces with need_turn for ever", looked: true, ask: auth,
			plays: plays(turn(says("Let me look at the middleware first."), goesOn("look"))), plain: 1,
			ours: between(2, 3),
			stop: "partial"},
		{name: "ends with two signals, need_turn first", ask: auth, plays: plays(reads(middleware),
			turn(says(jwt), goesOn("say more"), done())), plain: 2, ours: exactly(3),
			stop: "satisfied", holds: []string{jwt}, ran: read},

		{name: "gives a whole answer with stuck", ask: auth, plain: 2, ours: between(2, 3), stop: "partial",
			holds: []string{jwt}, ran: read,
			plays: plays(reads(middleware),
				turn(says(jwt), isStuck("the tests are not in this folder", "name their folder"))),
			warns: []string{"the tests are not in this folder", "name their folder"}},
		{name: "is stuck for ever, and names the blocker", ask: auth, plays: plays(stuck), plain: 1,
			ours: between(2, 3), stop: "stuck",
			warns: []string{"disk that is not mounted", "mount the disk"}},
		{name: "is stuck, and answers when it may look elsewhere", ask: auth,
			plays: plays(stuck, readsNote("caching.md"), turn(says(decided), done())), plain: 1, ours: exactly(3),
			stop: "satisfied", holds: []string{decided}, ran: []string{"vault_read"}},

		{name: "answers a part", ask: auth, plays: plays(reads(middleware),
			turn(says(jwt), lacksPart("how a key is changed", "Keys were not looked at."))), plain: 2, ours: exactly(2),
			stop: "partial", holds: []string{jwt}, warns: []string{"Keys were not looked at"}, ran: read},
		{name: "recommends to delegate the rest", ask: auth, plays: plays(reads(middleware),
			turn(says(jwt), delegates("all handlers"))), plain: 2, ours: exactly(2),
			stop: "satisfied", holds: []string{jwt}, warns: []string{"(?i)delegating.*all handlers"}, ran: read},

		{name: "has read, and is not sure", ask: auth, plays: plays(reads(middleware),
			turn(says(jwt), says(sufficient("0.1")))), plain: 2, ours: exactly(2), stop: "satisfied",
			holds: []string{jwt}, ran: read, signal: "context_sufficient"},
		{name: "has not read, and is not sure", looked: true, ask: auth, plays: plays(turn(says(guess), says(sufficient("0.1")))),
			plain: 1, ours: exactly(2), stop: "satisfied",
			holds: []string{guess}, basis: other},
		{name: "has read, and writes a confidence that is none", ask: auth, plays: plays(reads(middleware),
			turn(says(jwt), says(sufficient("high")))), plain: 2, ours: exactly(2),
			stop: "satisfied", holds: []string{jwt}, ran: read},
		{name: "has read, and leaves sources_found out", ask: auth, plays: plays(reads(middleware),
			turn(says(jwt), says(signal("context_sufficient", "confidence", "0.9")))), plain: 2,
			ours: exactly(2), stop: "satisfied", holds: []string{jwt}, ran: read},
		{name: "has not read, and writes a confidence that is none", looked: true, ask: auth,
			plays: plays(turn(says(guess), says(sufficient("high")))), plain: 1, ours: exactly(2),
			stop: "satisfied", holds: []string{guess}, basis: other},
		{name: "has not read, and leaves sources_found out", looked: true, ask: auth,
			plays: plays(turn(says(guess), says(signal("context_sufficient", "confidence", "0.9")))), plain: 1,
			ours: exactly(2), stop: "satisfied", holds: []string{guess}, basis: other},
		{name: "has read, and writes a signal of its own", ask: auth, plays: plays(reads(middleware),
			turn(says(jwt), says(signal("done", "confidence", "0.9")))), plain: 2,
			ours: exactly(2), stop: "satisfied", holds: []string{jwt}, ran: read},
	}
}
