// BokehJS would take the first message of the next connection for the rest of the one that was cut in its middle
const connection = cb_data.connection.deref()
if (connection) connection._receiver = new connection._receiver.constructor()
