package understand

import "strings"

var portuguese = language{
	code:      "pt",
	endings:   "o a os as",
	core:      "tarefa tarefas lista lembrete lembretes favor",
	pastAlone: true,
	classes: map[class]string{
		vRemind: `me_lembra_de me_lembre_de me_lembrar_de me_lembra_que me_lembre_que me_lembra:1 me_lembre:1 me_lembrar:1 me_lembra_do me_lembra_da
			me_lembra_dos me_lembra_das me_lembre_do me_lembre_da me_lembre_dos me_lembre_das me_lembrar_do me_lembrar_da lembra_-me_de lembre_-me_de
			lembra_-me_do lembra_-me_da lembre_-me_do lembre_-me_da lembra_-me:1 lembre_-me:1 lembrar_-me_de
			lembra_me_de lembre_me_de lembrar_de lembra_de lembre_de lembrete_para lembre_se_de não_me_deixa_esquecer_de não_me_deixe_esquecer_de
			não_me_deixa_esquecer não_me_deixe_esquecer não_me_deixes_esquecer_de não_me_deixes_esquecer não_me_deixa_esquecer_do
			não_me_deixa_esquecer_da não_me_deixe_esquecer_do não_me_deixe_esquecer_da não_deixa_eu_esquecer_de não_deixe_eu_esquecer_de
			não_deixa_eu_esquecer não_deixe_que_eu_esqueça_de
			não_esquece_de não_esqueça_de não_esquecer_de não_esquecer não_esqueça não_esquece não_esquecer_do não_esquecer_da não_esqueça_do
			não_esqueça_da não_posso_esquecer_de não_posso_esquecer não_posso_esquecer_do não_posso_esquecer_da não_posso_me_esquecer_de me_avisa_de
			me_avise_de me_avisa_para me_avise_para me_avisa:1 me_avise:1 não_te_esqueças_de não_me_posso_esquecer_de`,
		vNeed: `preciso:1 eu_preciso:1 preciso_de:1 eu_preciso_de:1 ainda_preciso:1 ainda_preciso_de:1 também_preciso:1 também_preciso_de:1
			tenho_que tenho_de eu_tenho_que eu_tenho_de ainda_tenho_que ainda_tenho_de também_tenho_que devo eu_devo deveria eu_deveria eu_devia
			precisamos:1 precisamos_de:1 temos_que temos_de vou eu_vou necessito:1 necessito_de:1 tô_precisando:1 tô_precisando_de:1
			estou_precisando:1 estou_precisando_de:1 preciso_mesmo tenho_mesmo_de falta_eu`,
		vCreate: `adiciona adicione adicionar adiciona_aí acrescenta acrescente acrescentar cria:1 crie:1 criar:1 anota anote anotar anota_aí
			anote_aí inclui inclua incluir insere insira inserir registra registre registrar nova_tarefa novo_item novo_lembrete nova_entrada
			outra_tarefa mais_uma_tarefa tarefa:2 lembrete:2 faz_uma_tarefa faça_uma_tarefa cria_uma_tarefa crie_uma_tarefa regista registe`,
		vPut:    `bota bote botar coloca coloque colocar põe ponha pôr joga jogue tira tire tirar escreve escreva risca risque mete meta`,
		vDelete: `apaga apague apagar deleta delete deletar exclui exclua excluir remove remova remover elimina elimine eliminar apagues apagas`,
		vDeleteWeak: `tira tire tirar cancela cancele cancelar limpa limpe limpar descarta descarte descartar esvazia esvazie esvaziar joga_fora
			jogue_fora jogar_fora some_com suma_com deita_fora`,
		vComplete: `conclui conclua concluir completa complete completar finaliza finalize finalizar dá_baixa_em dê_baixa_em dar_baixa_em
			dá_baixa_na dê_baixa_na dar_baixa_na dá_baixa_no dê_baixa_no dá_baixa_nas dá_baixa_nos`,
		vCompleteWeak: `termina termine terminar acaba acabe acabar fecha feche fechar encerra encerre encerrar risca risque riscar tica ticar resolve
			resolva`,
		vUpdate: `atualiza atualize atualizar edita edite editar modifica modifique modificar actualiza actualize actualizar`,
		vUpdateWeak: `muda:1 mude:1 mudar:1 altera:1 altere:1 alterar:1 troca:1 troque:1 trocar:1 corrige corrija corrigir substitui substitua
			substituir define defina definir coloca coloque põe ponha ajusta ajuste ajustar`,
		vRename: `renomeia renomeie renomear rebatiza rebatize`,
		vMove: `adia adie adiar move mova mover passa passe passar remarca remarque remarcar transfere transfira transferir empurra empurre
			joga_pra`,
		vReopen: `reabre reabra reabrir desmarca desmarque desmarcar reativa reative reativar`,
		vMark:   `marca marque marcar coloca coloque define defina põe ponha passa passe muda mude altera altere dá dê atualiza atualize`,
		vList: `mostra mostre mostrar lista liste listar exibe exiba exibir ver vê veja me_mostra me_mostre me_diz me_diga quero_ver apresenta
			apresente diz diga dá dê me_dá me_dê mostra_-me mostre_-me diz_-me me_fala me_fale me_lembra_o_que me_passa lê leia`,
		vFind: `procura:1 procure:1 procurar:1 busca:1 busque:1 buscar:1 acha:1 ache:1 achar:1 encontra:1 encontre:1 encontrar:1 pesquisa
			pesquise pesquisar procura_por procure_por busca_por busque_por filtra filtre filtrar`,
		vUndo: `desfaz desfaça desfazer desfaz_isso reverte reverta reverter volta_atrás anula anule anular restaura restaure desfaz_aí`,
		vErrand: `compra compre liga ligue paga pague manda mande envia envie leva leve pega pegue faz faça agenda agende escreve escreva lava lave
			limpa limpe marca marque reserva reserve busca busque devolve devolva conserta conserte arruma arrume prepara prepare
			cozinha cozinhe estuda estude lê leia liga_para ligue_para visita visite organiza organize verifica verifique imprime imprima traz traga
			renova renove cancela cancele ir ver pôr dar ler pagar comprar ligar levar`,
		fAsk: `você_pode vc_pode pode poderia você_poderia vc_poderia dá_pra dá_para consegue você_consegue podes podias tu_podes pode_por_favor
			será_que_você_pode será_que_dá_pra será_que_você_poderia quero_que_você queria_que_você gostaria_que_você faz_o_favor_de faça_o_favor_de
			por_gentileza você_me_faz_o_favor_de tem_como_você se_importa_de você_deve você_tem_que preciso_que_você quero_que podia você_podia
			poderias você_já_pode seria_possível`,
		fWish: `quero eu_quero gostaria_de eu_gostaria_de queria eu_queria vamos desejo bora gostava_de`,
		fFiller: `por_favor favor pf pfv pfvr por_gentileza então também agora depois aí ok okay olá oi ei só já ainda bem bom logo assistente sibyl
			aliás além_disso e_então e_depois em_seguida por_fim finalmente primeiro rapidinho mas se_faz_favor faz_favor simplesmente imediatamente
			novamente de_novo se_possível se_puder`,
		fMe: `me mim pra_mim para_mim nos -me para_nós pra_gente`,
		fGreet: `oi olá bom_dia boa_tarde boa_noite e_aí tchau até_logo até_amanhã até_mais tudo_bem tudo_bom como_vai como_você_está como_estás alô
			ola fala opa beijos abraços bom_fim_de_semana`,
		fThanks: `obrigado obrigada muito_obrigado muito_obrigada valeu brigado brigada agradeço obg vlw`,
		fHedge:  `talvez acho_que quem_sabe provavelmente possivelmente não_sei_se não_tenho_certeza não_sei sei_lá um_dia_desses pergunto_me será`,
		fReport: `disse diz falou fala pediu pede perguntou escreveu mandou contou acha pensa achou quer queria respondeu sugeriu afirmou dizendo
			a_frase citação`,
		fIf: `se quando caso a_menos_que assim_que e_se antes_que supondo imagina_se desde_que`,
		fAsking: `o_que que qual quais como quando onde quem por_que porque cadê quantas quantos será_que posso podemos devo_eu devemos deveria_eu
			existe existem há tem_alguma tem_algum tem_alguma_coisa tem_algo é_possível tem_como você_apagou você_já você_excluiu você_deletou
			você_adicionou você_removeu você_criou o_quê pra_que para_que que_tarefas tem_tarefas por_quê eu_posso dá_pra_eu =é_possível
			a_gente_pode`,
		fAux:     `está estão foi foram são tem têm pode podem deve devem =é`,
		fSubject: `eu você vc tu ele ela nós vocês eles elas isso isto alguém ninguém a_gente te`,
		fPerfect: `eu já eu_já já_eu acabei_de:1 eu_acabei_de:1 acabo_de:1 ontem_eu hoje_eu finalmente já_me`,
		fTalk: `legal massa show bacana ótimo ótima incrível interessante perfeito haha kkk kkkk rsrs nossa uau puxa que_bom que_legal que_pena
			desculpa desculpe foi_mal hmm hm ah ih sem_problema sem_problemas de_nada imagina tranquilo maravilha excelente bom teste beleza top
			fixe`,
		fBe: `está estou estava foi era sou são tem tinha gosto gosta amo ama acho acha sei sinto adoro adora odeio parece fica ficou vai =é
			estão estamos chove choveu funciona não_sei`,
		fStative: `gostei amei adorei odiei pensei achei senti fui sei hei dei_conta esqueci dormi perdi sonhei chorei tentei decidi comecei entendi
			ouvi vi queria fiquei apaguei deletei exclui removi adicionei criei mudei alterei renomeei errei cansei falei errado dancei ri`,
		fHelp: `ajuda me_ajuda me_ajude ajude_me o_que_você_faz o_que_você_pode_fazer o_que_você_sabe_fazer o_que_posso_fazer o_que_posso_dizer
			quem_é_você o_que_é_você como_funciona como_isso_funciona como_faço como_eu_faço como_posso como_eu comandos instruções preciso_de_ajuda
			socorro como_é_que_eu como_se como_apago como_concluo como_adiciono como_crio como_marco como_excluo como_mudo como_faz`,
		fAgain: `quer_dizer quis_dizer eu_quis_dizer digo ou_melhor aliás não_espera espera correção ops peraí melhor_dizendo na_verdade quero_dizer
			eu_queria_dizer`,

		yStrong: `sim s ss claro pode isso isso_mesmo isso_aí exato exatamente com_certeza certeza confirmo confirma confirmado confirme positivo
			pode_ser pode_sim manda_ver vai_em_frente vá_em_frente faz_isso faça_isso faça faz manda_bala uhum aham correto é_isso é_isso_aí
			por_favor_sim claro_que_sim tenho_certeza podes afirmativo bora manda sim_senhor siga prossiga avance 👍 ✅ 👌 ✔ 🆗`,
		yWeak: `ok okay tá ta tá_bom ta_bom beleza blz certo bom tudo_bem tá_certo ótimo perfeito está_bem de_acordo combinado está_bom`,
		yNo: `não nao n nn de_jeito_nenhum nunca negativo melhor_não não_precisa não_faz_isso não_faça_isso claro_que_não de_forma_alguma
			nem_pensar não_obrigado não_obrigada prefiro_não acho_que_não 👎 ❌ ✖ 🚫`,
		yCancel: `deixa deixa_pra_lá deixa_para_lá deixa_quieto deixa_assim deixe deixa_estar deixe_pra_lá deixe_para_lá cancela cancelar cancele
			cancela_isso esquece esquece_isso esqueça pare para_com_isso agora_não mudei_de_ideia desisto não_quero_mais espera pera peraí hoje_não
			ainda_não nada deixa_como_está deixa_isso mantém mantenha`,
		yMaybe: `talvez mas depois mais_tarde se sei_lá não_sei quem_sabe porém acho será quase hm hmm por_que ou primeiro só_se depende provavelmente`,
		yThat: `isso ela ele essa esse esta este você vc pode por_favor obrigado obrigada agora então a o as os -a -o -la -lo quero já sim tarefa
			a_tarefa essa_tarefa tá bom mesmo com favor lá aí eu`,

		rArticle: `a o as os minha meu minhas meus essa esse essas esses esta este estas estes aquela aquele nossa nosso nossas nossos sua seu
			toda_a todo_o`,
		rIndefinite: `um uma mais_um mais_uma outro outra uns:1 umas:1 alguma:1 algumas:1 algum:1 alguns:1 várias:1 qualquer:1 a_maioria:1`,
		rTask:       `tarefa item lembrete entrada todo pendência opção posição coisa afazer`,
		rTasks:      `tarefas itens lembretes entradas todos pendências opções posições coisas afazeres seguintes o_seguinte`,
		rList:       `lista listas lista_de_tarefas lista_de_afazeres lista_de_compras lista_de_pendências agenda checklist`,
		rListKind:   `inteira toda completa atual`,
		rIt: `isso isto ela ele essa esse esta este aquela aquele -a -o -la -lo -as -os -las -los elas eles essas esses essa_aí esse_aí
			esta_aqui a_mesma o_mesmo aquilo isso_aí`,
		rAll:    `todas todos toda todo todas_as todos_os cada`,
		rWhole:  `inteira inteiro toda`,
		rEach:   `tudo todas_elas todos_eles cada_uma cada_um tudo_isso todas todos`,
		rBoth:   `ambas ambos as_duas os_dois ambas_as ambos_os`,
		rExcept: `menos exceto fora salvo com_exceção_de com_exceção_da a_não_ser mas_não tirando à_exceção_de`,
		rNumber: `um:1 uma:1 dois:2 duas:2 três:3 quatro:4 cinco:5 seis:6 sete:7 oito:8 nove:9 dez:10 onze:11 doze:12 treze:13 catorze:14
			quatorze:14 quinze:15 dezesseis:16 dezessete:17 dezoito:18 dezenove:19 vinte:20`,
		rOrdinal:    `primeir~:1 segund~:2 terceir~:3 quart~:4 quint~:5 sext~:6 sétim~:7 oitav~:8 non~:9 décim~:10 últim~:-1 penúltim~:-2 antepenúltim~:-3`,
		rNumeroSign: `número num nº n.º números n`,
		rOf:         `de da do das dos na no nas nos em`,
		rAnd:        `=e & + mais bem_como e_também`,
		rOr:         `ou`,
		rThrough:    `a até à ao -`,
		rAbout: `de da do das dos sobre com chamada chamado para pra que_fala_de relacionada_a intitulada intitulado que_diz referente_a
			com_o_título com_o_nome com_título relacionadas_a a_ver_com`,
		rNone:    `nenhuma nenhum nenhuma_delas nenhum_deles nem_uma_nem_outra`,
		rNot:     `não nao nunca jamais nem`,
		rNew:     `nov~ outr~ mais`,
		rAnother: `outr~ resto próxim~ restante restantes demais`,

		tTo:   `à a ao na no às aos nas nos em para pra pro`,
		tFrom: `da do das dos de`,
		tAs:   `como para pra por em de_volta_para`,
		tInto: `para pra por como em pro -> : = a com`,
		tDone: `feit~ concluíd~ pront~ terminad~ completad~ finalizad~ acabad~ resolvid~ complet~ ok fech~ encerrad~ marcad~`,
		tUndone: `pendente pendentes abert~ incomplet~ não_concluíd~ não_feit~ não_terminad~ por_fazer em_aberto inacabad~ a_fazer ativ~ não_pront~
			não_completad~ ainda_não_feit~ ainda_não_concluíd~ aberto`,
		tStill: `falta faltam falta_fazer resta restam pendente pendentes ainda tenho_que tenho_de preciso eu_tenho_que eu_preciso tenho_que_fazer
			tenho_de_fazer preciso_fazer por_fazer a_fazer em_aberto abert~ devo_fazer próxim~ sobrou atrasad~ ainda_tenho`,
		tNewest: `mais_recentes mais_recente mais_novas mais_novos mais_nova recentes mais_recentes_primeiro mais_novas_primeiro
			últimas_adicionadas decrescente as_mais_recentes_primeiro`,
		tDesc:  `descrição nota notas observação detalhe detalhes comentário anotação obs descrições`,
		tTitle: `título nome texto títulos`,
		tWith:  `com com_a com_uma e_com`,
		tAnchor: `eu_tenho tenho hoje amanhã esta_semana essa_semana na_agenda planejad~ eu_fiz:1 já_fiz:1 concluí:1 terminei:1 completei:1 fiz:1
			temos fim_de_semana na_minha_agenda nesta_semana nessa_semana marcad~ semana_que_vem`,
		tInList: `o a os as que é são tem tenho há está estão eu me de da do das dos na no nas nos em para pra pro hoje amanhã agora tudo todas
			todos fazer já até semana mês dia minha meu minhas meus lista quais qual quantas quantos um uma e existe existem ver tarefas foi ainda aí
			segunda terça quarta quinta sexta sábado domingo alguma algum coisa por favor manhã tarde noite vem próxim~ mais mesmo feira`,
		tInfTo: `de que para do da dos das pra que_eu_tenho_que que_eu_preciso`,
		tThat:  `de para do da pra`,
		tPast: `fiz escrevi vendi li pus trouxe comi bebi abri corri saí resolvi respondi recebi =concluí concluí_a cumpri devolvi imprimi reuni
			colhi cozi preenchi troquei fui_a fui_ao fui_à transferi`,
		tEnding: `por_favor pf pfv obrigado obrigada por_gentileza se_puder se_possível tá tá_bom ok valeu pra_mim para_mim sim se_faz_favor
			faz_favor né`,
		tNoInf: `lugar mulher colher celular jantar bar mar par dar_lugar familiar escolar circular popular militar solar pilar dólar açúcar
			hambúrguer qualquer sequer zíper computador pôster líder poder ar ler_se elementar particular similar regular lar olhar super`,
		tBack:   `ele ela eles elas lhe -lo -la -o -a`,
		tSaying: `dizendo que para como`,
		tStatus: `status estado situação`,
		tThen:   `depois e_depois então e_então em_seguida também além_disso por_fim`,
		tChange: `alteração mudança ação última_alteração última_ação última_mudança`,
		tPassive: `apagada apagadas excluída excluídas deletada removida adicionada alterada concluída apagar excluir deletar remover adicionar
			concluir apago excluo deleto`,
		tWhereIs: `quando_é onde_está tem_alguma_coisa tem_alguma_tarefa tem_algo tenho_alguma_coisa tenho_algo tenho_alguma_tarefa
			existe_alguma_tarefa há_alguma_tarefa quando_tenho quando_tenho_que o_que_é:2 qual_é:2 tem_tarefas quando`,
		tLink:      `está foi =é estão foram ficou já_está já_foi tá estou são`,
		tAlready:   `já agora finalmente hoje ontem`,
		tInsteadOf: `em_vez_disso`,
		tPick:      `pega quero escolho eu_quero é =é seria_a a_opção prefiro fica_com fico_com vou_de eu_escolho quis_dizer me_refiro_a é_a escolhe`,
		tItIs:      `está_feito isso_está =está tá já_está`,
		tTime:      `para pra até amanhã hoje na próxima no às em`,
		tLeads:     `chama_de chame_de deve_ser o_novo_título_é o_título_é novo_título título deve_se_chamar muda_para mude_para`,
	},
	split: map[class]string{
		vReopen: `deixa…em_aberto`,
	},
	infinitive: func(t token, _ bool) bool {
		w := t.norm
		return t.kind == word && len(w) >= 4 && (strings.HasSuffix(w, "ar") || strings.HasSuffix(w, "er") || strings.HasSuffix(w, "ir"))
	},
	past: func(w string) bool { return len(w) >= 5 && strings.HasSuffix(w, "ei") },
	participle: func(w string) bool {
		w = strings.TrimSuffix(w, "s")
		return len(w) >= 5 && (strings.HasSuffix(w, "ado") || strings.HasSuffix(w, "ada") || strings.HasSuffix(w, "ido") || strings.HasSuffix(w, "ida"))
	},
}
