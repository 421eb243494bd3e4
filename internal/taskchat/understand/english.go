package understand

import "strings"

func english() language {
	return language{
		code: "en",
		core: "task tasks list lists todo todos reminder reminders please title description done completed finished second third fourth fifth everything number could would",
		classes: map[class]string{
			vRemind: `remind_me_to remind_me_about remind_me_of remind_me_that remind_me_i remind_us_to remind_me:1 don't_forget_to don't_forget_about
			don't_forget
			don't_let_me_forget_to don't_let_me_forget_about don't_let_me_forget do_not_let_me_forget_to do_not_let_me_forget do_not_forget_to do_not_forget
			remember_to remember:1 note_to_self make_a_note_to make_a_note_of make_a_note_that make_a_note make_note_of make_sure_i_don't_forget_to
			make_sure_i
			make_sure_that_i make_sure_to i_mustn't_forget_to i_mustn't_forget i_must_not_forget_to i_must_not_forget i_shouldn't_forget_to
			i_can't_forget_to
			i_can't_forget i_cannot_forget_to jot_down write_down note_down pencil_in put_me_down_for keep_in_mind_to keep_in_mind_that`,
			vNeed: `i_need_to i_still_need_to i_also_need_to i_have_to i_still_have_to i_also_have_to i've_got_to i_have_got_to i_got_to i_gotta gotta
			i_must i_should i_ought_to
			i_should_really i_need_to_really i_really_ought_to i_really_need_to i_really_have_to i_really_should i_really_must i'll_need_to i'll_have_to i_will_need_to i_will_have_to i'd_better
			i_had_better we_need_to we_have_to we_must we_should we_gotta need_to have_to must i_need:1 i_still_need:1 i_also_need:1 we_need:1
			i'm_supposed_to i_am_supposed_to i'm_going_to i_am_going_to i'm_planning_to i_plan_to i_intend_to i_just_need_to it's_time_to time_to
			there's_also`,
			vCreate: `add create:1 insert append note new_task new_todo new_to-do new_item new_reminder new_entry another_task todo:2 to-do:2 task:2 new:2
			reminder:2 set_up_a_task set_a_reminder set_reminder schedule_a_task make_a_task make_a_new_task make_a_todo make_a_to-do make_me_a_task`,
			vPut:    `put stick throw place get take pop write have keep slap chuck cross:1 strike knock scratch jot`,
			vDelete: `delete remove erase get_rid_of deleting removing trash discard bin del rm`,
			vDeleteWeak: `drop cancel clear throw_away throw_out scrap wipe ditch clean_out clean_up clear_out purge kill dump empty scratch strike
			strike_out nuke eliminate lose toss forget_about`,
			vComplete:     `complete check_off tick_off cross_off mark_off completing crossing_off checking_off tick_out cross_out`,
			vCompleteWeak: `finish finish_off close tick check close_out wrap_up resolve conclude finalize finalise`,
			vUpdate:       `update edit modify reword rephrase retitle revise amend updating editing`,
			vUpdateWeak:   `change:1 correct fix replace alter make turn set swap adjust expand extend shorten changing`,
			vRename:       `rename renaming`,
			vMove:         `move postpone reschedule push push_back delay defer shift bring_forward`,
			vReopen:       `reopen re-open uncheck untick uncomplete unmark reactivate restore un-complete un-check`,
			vMark:         `mark set flag make put tick change update turn label move`,
			vList: `show show_me gimme list display view see give_me tell_me read read_me read_out let_me_see let's_see print bring_up pull_up open:1 go_through
			run_through remind_me_what remind_me_which get_me
			check look_at give_us show_us recap summarize summarise tell_me_about list_out list_up get fetch`,
			vFind: `find:1 search:1 search_for look_for:1 look_up:1 filter filter_by`,
			vUndo: `undo undo_that undo_it undo_this take_that_back take_it_back revert revert_that revert_it bring_it_back bring_that_back
			put_it_back roll_back roll_that_back`,
			vGive:   `give`,
			vErrand: englishErrands,
			vErrandNoun: `book water call order plan clean text email mail e-mail name visit test paint iron dust mop sweep vacuum file wash train study
			practice practise dress block phone lock fax feed dry exercise shower rest`,
			fAsk: `can_you could_you would_you will_you can_u could_u can_you_please could_you_please would_you_please would_you_mind:1 do_you_mind:1 mind:1 would_you_mind_please:1 would_you_kindly
			would_you_rather could_you_rather can_you_rather would_you_be_so_kind_as_to be_so_kind_as_to be_so_good_as_to would_you_be_so_kind_and
			would_you_be_willing_to might_you is_it_ok_if_you is_it_okay_if_you couldn't_you couldn't_you_just can't_you_just would_it_be_ok_to would_it_be_okay_to would_it_be_all_right_to would_it_be_alright_to
			would_it_be_ok_if_you would_it_be_okay_if_you would_you_care_to any_chance_you_could any_chance_you_can any_chance_you_would any_chance_of_you:1
			is_there_a_way_you_could is_there_any_way_you_could do_you_think_you_could do_you_think_you_can can_i_get_you_to could_i_get_you_to
			can_i_ask_you_to may_i_ask_you_to might_i_ask_you_to i'd_ask_you_to
			i'd_rather_you i'd_prefer_you_to i_would_rather_you
			please_can_you please_could_you could_i_ask_you_to
			i'd_like_you_to i_would_like_you_to i_want_you_to i_need_you_to i'd_love_you_to i'd_appreciate_it_if_you_could do_me_a_favor_and
			do_me_a_favour_and would_it_be_possible_to is_it_possible_to be_so_kind_and are_you_able_to you_can you_could you_may you_should
			you_need_to you_must would_you_be_able_to`,
			fWish: `i_really_want_to i_do_want_to i_really_do_want_to i_just_want_to i_definitely_want_to i_want_to i'd_like_to i_would_like_to i_wanna i'd_love_to let's let_us let_me i'd_want_to we_want_to we'd_like_to i_would_love_to i'd_rather i_would_rather i'd_much_rather i'd_sooner i_would_prefer_to i'd_prefer_that_you
			lemme i_wish_to i'd_like i_would_like i_want i'd_prefer_to go_ahead_and`,
			fFiller: `before_i_forget before_i_forget_it right_away straight_away at_once ah on_second_thought on_second_thoughts please kindly just ok okay hey so also oh um uh well alright and_then and then next finally lastly first_of_all you_know_what you_know guess_what hmm_so mmm let_me_think hold_on_a_second i_mean_like well_then let's_see_now actually plus
			quickly real_quick simply now anyway
			but right pls plz dear assistant sibyl bot additionally furthermore after_that afterwards besides as_well too again for_now right_now
			immediately after_all anymore any_more any_longer asap_please if_you_would if_you_could if_you_can if_possible when_you_get_a_chance thx_please basically literally btw
			by_the_way thanks_and please_also hi hello listen look_here good_morning`,
			fMe: `me for_me us for_us`,
			fGreet: `hi hello hey good_morning good_evening good_afternoon good_night goodnight morning evening bye goodbye see_you see_you_later
			see_you_tomorrow see_ya good_day greetings howdy
			that's_all that's_it that_is_all that_is_it that_will_be_all that'll_be_all that_would_be_all that's_everything that_was_all that_was_it
			i_need_to_go i_have_to_go i_must_go i_gotta_go gotta_go i've_got_to_go i_got_to_go i_should_go gotta_run i_gotta_run i_have_to_run i'm_off
			i_am_off off_to_bed i'm_off_to_bed i'm_going_to_bed i'm_out i'm_heading_out i'm_leaving talk_later talk_soon talk_to_you_later
			talk_to_you_soon talk_to_you_tomorrow let's_call_it_a_day let's_stop_here let's_stop_for_today let's_leave_it_at_that let's_end_here i'll_call_it_a_day until_tomorrow until_next_time sleep_well take_care
			catch_you_later have_a_good_one have_a_good_evening have_a_nice_evening have_a_good_night have_a_good_weekend have_a_nice_weekend
			nothing_else nothing_more enough_for_today enough_for_now i'm_done_talking
			how_are_you how_are_you_doing how_is_it_going how's_it_going what's_up have_a_nice_day have_a_good_day have_a_great_day hi_there
			hello_there hey_there later_gator cheers nice_to_meet_you`,
			fThanks: `thanks thank_you thank_you_so_much thank_you_very_much thx ty cheers many_thanks thanks_a_lot much_appreciated great_job good_job
			well_done nice_work thanks_so_much good_work you're_the_best appreciated`,
			fHedge: `maybe perhaps probably possibly i_guess i_think i_suppose might not_sure i'm_not_sure unsure eventually someday i_wonder kind_of
			sort_of dunno i_don't_know could_be`,
			fReport: `said says say told tells asked asks wrote writes thinks thought suggested suggests wants wanted mentioned claims claimed believes
			shouted texted emailed replied answered insisted yelled whispered quote quoted keeps_saying the_sentence the_phrase the_words the_text`,
			fIf: `if whether unless in_case suppose supposing assuming imagine provided what_if once_i as_soon_as when_i when_it when_we until
			before_i before_you hypothetically were_i`,
			fAsking: `what how why when where who which whose whom what's how's where's who's when's should_i should_we shall_i shall_we may_i might_i
			could_i can_i can_we do_i do_we did_i did_you did_we did_it have_i have_you have_we has_it has_the had_i had_you do_you do_they does_it
			does_this does_that does_the
			am_i are_you are_there are_these are_they are_those are_my are_all are_any is_it is_that is_this is_there is_the is_my is_task was_it
			was_that was_there were_you were_there will_it will_there will_i would_it would_i would_that isn't_it
			aren't_there don't_you didn't_you didn't_i haven't_you won't_it can't_you can't_i couldn't_you couldn't_i can_it can_they can_tasks
			could_tasks can_a can_the could_they could_it is_deleting is_everything how_come what're what_about how_about any_idea don't_i has_anyone
			has_anything are_tasks do_tasks will_tasks must_i need_i any_chance is_anything anything which_ones which_one how_many how_much`,
			fAux: `can could will would do does did is are was were has have had should shall may might am isn't aren't don't doesn't didn't`,
			fSubject: `i you he she it we they this that there i'm you're he's she's it's we're they're that's there's i'd i'll i've you've we've they've
			you'll we'll nobody everybody everyone someone somebody`,
			fPerfect: `i've i_have i_just we've we_have i_already i_finally i i've_just i've_already i've_finally i_have_just i_have_already i_actually we
			we_just we_already i_also i've_also i_managed_to:1 we_managed_to:1 we_finally i_got we_got i've_got`,
			fTalk: `nice cool great awesome lol haha hahaha wow interesting perfect amazing excellent wonderful lovely super fantastic funny sorry oops
			ugh yay hmm hm oh really omg brilliant
			good bad fine no_problem no_worries never_been_better all_good you're_welcome welcome my_bad what huh sweet neat sure_thing whatever test
			testing bye anyway congratulations congrats happy sad`,
			fBe: `is was are were am be been isn't wasn't aren't weren't has had will would that's it's i'm you're love loves hate hates like likes
			feel feels think thinks know knows seems seem looks sounds makes does doesn't don't did didn't can't cannot won't wouldn't couldn't could
			went came happened rained snowed works means`,
			fStative: `was were had been loved liked felt thought knew hated wanted needed forgot missed slept seemed looked enjoyed wondered wished hoped
			believed saw heard meant said told asked laughed lived lost dreamed dreamt
			tried failed decided started stopped remembered understood woke cried deleted added removed noticed changed renamed created agreed worried
			guessed planned expected`,
			fAskIf:   `if_you_could if_you_would if_you_can if_you_might if_i_asked_you_to if_i_could_ask_you_to if_you_could_please if_you_would_please`,
			fUhm:     `uh um uhm uhh umm uhmm erm ehm ehh mhm`,
			fClausal: `check verify ensure confirm see make_sure tell ask say hope wait let find_out double-check look`,
			fHelp: `help help_me help_me_out what_can_you_do what_can_i_do what_do_you_do who_are_you what_are_you how_does_this_work how_do_you_work
			how_does_it_work commands instructions usage manual what_can_i_say what_can_i_ask i_need_help how_do_i how_can_i how_to how_should_i
			how_would_i how_could_i how_does_one can_i_get_help what_are_you_able_to_do what_commands how_do_you how_do_we are_you_able_to`,
			fAgain: `hang_on no_hang_on or_no i_mean i_meant make_that rather no_wait wait sorry correction actually scratch_that or_rather i_meant_to_say oops`,

			fMeant: `i_meant i_was_talking_about i_was_thinking_of i_had_in_mind i_was_referring_to it_should_have_been you_should_have it_was_supposed_to_be
			i_said i_asked_for i_wanted`,
			fToo: `too also as_well likewise same_for same_with ditto_for the_same_for the_same_with same_goes_for the_same_goes_for do_the_same_for
			do_the_same_with and_also what_about:1 how_about:1`,
			fClosing: `for_today for_now for_tonight for_the_day for_the_night for_the_week here for_the_evening for_this_evening for_the_morning for_the_afternoon for_this_week for_the_weekend for_the_moment with_you
			with_my_day with_work today tonight now so_far talking working chatting talking_to_you`,

			yStrong: `yes yeah yep yup yea ya y aye sure go_ahead do_it please_do definitely absolutely of_course certainly correct confirm confirmed
			affirmative go_right_ahead that_is_what_i_want that_is_what_i_said yes_i_do yes_you_may yes_you_can go_on go_on_then go_for_it_then that's_what_i_want that's_what_i_said that's_fine_with_me fine_with_me fine_by_me works_for_me
			that's_right thats_right sounds_good yes_please go_for_it that's_correct exactly by_all_means indeed do_that do_so proceed
			i_confirm i'm_sure i_am_sure positive yessir yass uh-huh approved i_do it_is sure_thing agreed make_it_so 👍 ✅ 👌 ✔ 🆗`,
			yWeak: `ok okay okey alright right fine k kk good great perfect okie sounds_great all_right very_well okay_then`,
			yNo: `oh_god_no god_no oh_no no_no no nope nah nay n no_thanks no_thank_you no_way not_really absolutely_not definitely_not certainly_not of_course_not negative
			please_don't better_not rather_not i'd_rather_not hell_no not_at_all don't_do_it don't_do_that don't do_not nooo noo 👎 ❌ ✖ 🚫`,
			yCancel: `never_mind nevermind nvm cancel cancel_that cancel_it stop stop_it stop_that forget_it forget_that forget_about_it leave_it
			leave_it_alone leave_it_be leave_that leave_it_as_it_is keep_it keep_that keep_them leave_them keep_them_all keep_all keep_all_of_them keep_both keep_both_of_them better_keep_it
			better_keep_them keep_everything better_leave_it abort not_now not_yet not_today drop_it
			let_it_be let_it_go skip_it skip skip_that scratch_that i_changed_my_mind changed_my_mind hold_on wait hold_off don't_bother quit
			nothing it's_fine_as_it_is forget_i_said_anything let's_not let_it leave_everything`,
			yMaybe: `not_really_sure maybe perhaps probably possibly i_guess guess i_think i_suppose suppose not_sure unsure later but if whether unless almost might hm
			hmm idk dunno don't_know why_not why whatever either sort_of kind_of not_quite first until should should_i depends`,
			yThat: `that it them this do it_please that_one this_one so with_it then now please thanks thank_you thx i i'm am want want_to to you can
			you_can may certain absolutely really very much for_me is that's the it's one with do_that go_on continue again already just would_like
			my_friend sir indeed right_now`,

			yInsist: `really seriously for_real i_mean_it definitely absolutely certainly for_sure for_certain of_course no_doubt i_insist i'm_sure
			i_am_sure i'm_serious i'm_certain no_doubt_about_it don't_ask don't_ask_again do_not_ask no_need_to_ask without_asking no_questions_asked
			not_a_joke no_joke i_really_mean_it i_do_mean_it i'm_positive no_kidding really_really trust_me`,

			rArticle:    `the my this that these those our your his her these_here the_whole the_entire of_the its`,
			rIndefinite: `a an another one_more some:1 any:1 a_few:1 several:1 a_couple:1 a_couple_of:1 most:1 most_of:1 few:1 half_of:1 many:1`,
			rTask:       `task item entry todo to-do reminder job to_do point option number_task bullet line thing position`,
			rTasks:      `tasks items entries todos to-dos reminders things jobs to_dos points options following the_following`,
			rList:       `list lists lists_of_tasks list_of_tasks tasklist todolist to-do-list todo-list checklist agenda`,
			rListKind:   `task tasks todo to-do to_do todos to-dos to_dos shopping grocery groceries whole entire current personal daily`,
			rOne:        `one guy`,
			rOnes:       `ones`,
			rThese:      `these those`,
			rIt: `it that this that_one this_one the_one them these those him her the_same the_same_one the_same_task the_one_you_just_added
			the_one_we_just_talked_about it_all this_here`,
			rAll:   `all every each all_of all_the`,
			rWhole: `whole entire full`,
			rEach: `everything anything all_of_them all_of_it every_one every_single_one all_of_these all_of_those them_all all_that the_lot the_whole_lot the_whole_thing whole_lot
			each_of_them`,
			rBoth: `both both_of_them both_of_these both_of_those the_two_of_them the_two the_pair`,
			rExcept: `except but except_for but_not besides apart_from other_than excluding minus save_for with_the_exception_of all_but not
			aside_from bar`,
			rNumber: `one:1 two:2 three:3 four:4 five:5 six:6 seven:7 eight:8 nine:9 ten:10 eleven:11 twelve:12 thirteen:13 fourteen:14 fifteen:15
			sixteen:16 seventeen:17 eighteen:18 nineteen:19 twenty:20 couple_of:2`,
			rOrdinal: `first:1 second:2 third:3 fourth:4 fifth:5 sixth:6 seventh:7 eighth:8 ninth:9 tenth:10 eleventh:11 twelfth:12 thirteenth:13
			fourteenth:14 fifteenth:15 sixteenth:16 seventeenth:17 eighteenth:18 nineteenth:19 twentieth:20
			last:-1 final:-1 second_to_last:-2 second-to-last:-2 second_last:-2 next_to_last:-2 next-to-last:-2 penultimate:-2 last_but_one:-2
			third_to_last:-3 third-to-last:-3 third_last:-3 last_but_two:-3 very_first:1 very_last:-1 top:1 topmost:1 bottom:-1 bottommost:-1
			fourth_to_last:-4 fourth-to-last:-4 one_before_the_last:-2 one_before_last:-2`,
			rNumeroSign: `number no nr num numbers nos`,
			rOf:         `of from in on off`,
			rAnd:        `and & + plus as_well_as and_also`,
			rOr:         `or`,
			rThrough:    `to through thru until till -`,
			rAbout: `about called named titled regarding concerning with for labelled labeled entitled that_says saying containing involving
			related_to that_has_to_do_with having_to_do_with to_do_with where_i where_we on of like which_says mentioning mention mentions contain contains where_i_have_to that_is_about named_after with_the_title
			with_the_name`,
			rNone: `none none_of_them neither none_of_these none_of_those neither_of_them neither_of_these neither_of_those neither_one not_any none_of_the_above nothing`,
			rNot: `not don't do_not never cannot can't no_longer didn't doesn't isn't wasn't haven't hasn't won't wouldn't shouldn't mustn't
			stop_adding stop_deleting stop_completing stop_changing stop_creating aren't without`,
			rInstead: `instead_of rather_than`,
			rNew:     `new extra additional further more`,
			rAnother: `other others another rest remaining next oldest new`,
			rMiddle:  `in_the_middle in_the_center in_the_centre middle_one middle middlemost in_between_them`,
			rEnd: `at_the_top:1 on_top:1 at_the_bottom:-1 at_the_end:-1 from_the_top:1 from_the_bottom:-1 from_the_end:-1 from_the_last:-1
			at_the_beginning:1 at_the_start:1 at_the_very_top:1 at_the_very_bottom:-1 at_the_very_end:-1 from_the_start:1`,
			rPlace: `on_there in_there onto_there`,
			rOnly:  `only just solely merely`,
			rBeside: `that_comes_before:-1 that_comes_after:1 that's_before:-1 that's_after:1 that_is_before:-1 that_is_after:1 before:-1 right_before:-1 just_before:-1 above:-1 right_above:-1 just_above:-1 over:-1 preceding:-1 after:1 right_after:1
			just_after:1 below:1 right_below:1 just_below:1 under:1 underneath:1 beneath:1 following:1`,
			rIts: `its it's their his her`,

			tOnto:   `on onto to`,
			tGoes:   `goes should_go needs_to_go also`,
			tTick:   `tick checkmark check_mark tick_mark`,
			tCalled: `should_be_called is_now_called is_to_be_called should_be_named should_be_renamed_to is_now_named should_now_be_called should_read`,
			tTo:     `to on onto in into at under`,
			tFrom:   `off from off_of out_of`,
			tAs:     `as to as_being back_to back_as into as_a is are`,
			tInto:   `to into as with by in_to -> : = so_it_says so_that_it_says to_say to_be to_read instead`,
			tDone: `✅ ☑ ✔ done complete completed finished checked_off ticked_off crossed_off checked ticked closed resolved over all_done complet
			completely_done off taken_care_of dealt_with out_of_the_way sorted accomplished`,
			tUndone: `pending open incomplete unfinished undone uncompleted not_done not_completed not_finished not_complete outstanding active
			unchecked not_yet_done unresolved to_do todo still_open undone_yet in_progress`,
			tStill: `left still remaining pending open outstanding unfinished incomplete undone todo to_do uncompleted active i_have_to i_need_to
			we_have_to we_need_to i_must have_to need_to must supposed_to should next i_still_have i_still_have_to i_still_need_to not_done
			not_yet_done ahead overdue unresolved missing`,
			tNewest: `newest latest most_recent recent newest_first latest_first recently_added recently by_date_descending most_recently_added
			last_added most_recent_first newest_to_oldest reverse_order descending`,
			tDesc:  `description:1 note notes details detail desc comment descriptions memo remark`,
			tTitle: `title name wording text titles label`,
			tWith:  `with including and with_a with_the plus having and_add and_set`,
			tInList: `else something any some have has had do does did is are was i we my me on in of the to for all any there everything anything
			today tomorrow tonight now this that week weekend month day days you your got get be been what's what whats up so far please again plate
			agenda schedule a am coming over entire whole full current list tasks task items a list_of so_far later at at_the_moment right about going
			it its it's next yet already monday tuesday wednesday thursday friday saturday sunday morning afternoon evening and or which ones one
			finish finished complete completed done look looks like how many planned plan first will can could would want see show tell if both only
			just ever happening deadline deadlines due by until still ahead`,
			tAnchor: `i_have to_do on_my_plate on_the_agenda on_my_agenda on_my_list coming_up on_today going_on planned we_have on_for_today
			on_for_tomorrow do_today do_tomorrow today tomorrow tonight this_week this_weekend next_week do_next do_first for_me up_next i_got my_day
			my_week scheduled i_still_have i_finish:1 i_complete:1 i_accomplish:1 i_get_done:1 i_do`,
			tInfTo: `to about of that`,
			tPast:  englishPast,
			tEnding: `that_would_be_great that_would_be_nice that_would_be_lovely that_would_be_good that_would_be_helpful that_would_be_awesome that'd_be_great
			that'd_be_nice that_would_help that'd_help i'd_appreciate_it i'd_appreciate_that i'd_be_grateful please pls plz kindly would_you will_you could_you can_you thanks thank_you thx if_you_can if_you_could if_you_would if_possible
			for_me ok okay when_you_get_a_chance thank_you_very_much many_thanks`,
			tBack:    `it them her him there`,
			tThat:    `to about`,
			tSaying:  `saying that_says reading to as of`,
			tStatus:  `status state`,
			tThen:    `so and_so then and_then after_that afterwards also finally next`,
			tChange:  `change changes last_change action step deletion edit update thing`,
			tPassive: `deleted completed added removed created renamed updated changed edited erased undone restored delete add remove complete`,
			tWhereIs: `when_is when's where_is where's is_there is_there_anything is_there_something is_there_a_task is_there_any_task are_there_tasks
			do_i_have_anything do_i_have_something do_i_have_a_task do_i_have_tasks do_i_have is when_do_i_have_to when_do_i_have_to_go_to when_must_i
			did_i_finish did_i_complete have_i_finished have_i_completed anything what_about what_is:2 what's:2 what_was:2 is_the:1 are_the:1 is_my:1
			is_task:1`,
			tLink:      `is are was were has_been have_been 's_been 've_been has_now_been have_now_been has_already_been have_already_been got 's is_now being am i'm that's it's gets`,
			tAlready:   `yet already now finally just been`,
			tInsteadOf: `instead rather`,
			tPick: `take use choose pick select i_mean i_meant i_want it's i'd_like i'll_take let's_take let's_go_with go_with i_choose it_is
			that_would_be it's_the it_was i_was_talking_about i_think_it's give_me`,
			tItIs:   `it's it_is that's that_is this_is`,
			tShould: `should_be should_read should_say must_be has_to_be needs_to_be ought_to_be shall_be should_become`,
			tNeedless: `i_don't_need i_no_longer_need i_do_not_need we_don't_need we_no_longer_need i_don't_want i_don't_have_to_do i_won't_need
			there's_no_need_for no_need_for i_no_longer_have_to_do`,
			tGone: `can_go can_be_deleted can_be_removed should_go has_to_go must_go is_no_longer_needed isn't_needed_anymore is_obsolete no_longer_matters
			is_not_needed_anymore is_not_needed isn't_needed needs_to_go is_cancelled is_canceled was_cancelled was_canceled got_cancelled
			got_canceled has_been_cancelled fell_through is_off`,
			tTime: `for on by at until before next tomorrow today tonight this in every`,
			tLeads: `it's_called it_is_called the_name_is the_title_should_read just_call_it call_it name_it make_it to it_should_be it_should_say it_should_read change_it_to rename_it_to the_new_title_is the_title_is
			the_title_should_be title: new_title it's it_is let's_call_it set_it_to`,
		},
		split: map[class]string{
			vComplete: `check…off tick…off cross…off cross…out strike…off strike…out get…done mark…off call…done tick…done check…done have…done`,
			vDelete:   `throw…out throw…away take…off take…out get…off strike…from`,
			vRemind:   `put…down write…down note…down jot…down`,
			vMove:     `push…back put…off bring…forward`,
		},
		infinitive: func(token, bool) bool { return false },
		past:       edForm,
		participle: edForm,
	}
}

// edForm says whether an English word has the form of a regular verb in the past.
func edForm(w string) bool {
	return len(w) > 4 && strings.HasSuffix(w, "ed") && !strings.HasSuffix(w, "eed")
}

// englishErrands are verbs that entries of a to-do list begin with, beside those that are nouns as often.
const englishErrands = `buy pay send write read go bring pick_up pick drop_off fetch prepare cook bake make do have set clear throw move close turn
			swap adjust fix repair install print sign schedule arrange organize organise review check discuss attend join meet contact reach_out reply
			respond answer ask tell invite
	check_in follow_up confirm_with renew register apply submit upload download research learn memorize draft proofread translate publish post deliver
			collect return exchange sell donate give lend borrow get take buy_and find look_into look_up search pack unpack move_out hang assemble
			build cut trim mow rake wipe plant prune
	tidy tidy_up wipe_down scrub polish empty take_out throw_out clear_out clean_up clean_out fold sort declutter charge refill replace back_up backup
			sync set_up sign_up call_back ring_up wake walk run jog swim stretch meditate drink eat try watch listen wrap celebrate congratulate thank
			remind apologize apologise
	start begin continue stop quit avoid help teach see talk speak chat drive ride pick_out choose decide estimate calculate measure weigh count
			compare verify inspect investigate analyze analyse debug deploy merge implement refactor code design sketch draw record film shoot present
			pitch negotiate hire interview onboard approve sign_off transfer deposit withdraw invest save budget claim
	fill_out fill_in fill_up fill hand_in turn_in put_away put_up put_out turn_off turn_on switch_off switch_on shut close open knit sew mend
			shop grab feed_the bathe groom vaccinate adopt book_the order_the water_the wear apply_for pay_off pay_back ship mail_the rsvp inform
			notify warn order_a get_a hoover bleach defrost marinate soak unload load vote settle request obtain acquire purchase redeem reserve rent
			lease pay_for drop_by stop_by swing_by check_on catch_up cheer stay spend sleep wait leave come be_at hem pump rotate service sharpen
			brush floss shave cut_the`

// englishPast are verbs of errands whose past is irregular.
const englishPast = `bought paid sent wrote read went brought did made met told gave lent got took found hung built cut drank ate ran swam drove rode
			spoke taught saw drew shot sold bought_the fed swept held did_the put shut began chose withdrew left spent rang dug wore sewed mown hid
	written gone done given taken driven eaten spoken begun chosen drawn run completed finished wrapped_up put_away taken_care_of took_care_of
			dealt_with handled crossed_off checked_off ticked_off picked_up dropped_off set_up taken_out took_out kept caught paid_off sung fixed lit`
