(() => {
  const box = document.currentScript.previousElementSibling
  const { offer } = box.dataset
  const wait = 500, patience = 600
  const call = (tries) => {
    const comm = window.PyViz?.kernels?.[offer]?.connectToComm("mklviz")
    if (!comm?.active) {
      if (tries < patience) setTimeout(call, wait, tries + 1)
      return
    }
    comm.onMsg = (message) => {
      const { program } = message.content.data
      if (program) document.head.append(Object.assign(document.createElement("script"), { textContent: program }))
      else window.mklviz.receive(box, comm, message, () => call(0))
    }
    comm.open({ offer, known: [...(window.mklviz?.known ?? [])] })
  }
  call(0)
})()
